// Reads the JSON lines of the probe and sorts them by kind and rank.
#include "harness/own_job/probe_report.h"

#include <algorithm>
#include <iostream>
#include <set>
#include <sstream>

#include "harness/base/file.h"
#include "harness/base/json_text.h"
#include "harness/contract/codec.h"

namespace harness {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string text_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}
template <class Number>
void read_number(const json& object, const char* key, Number& number) {
  const auto found = object.find(key);
  if (found != object.end() && found->is_number()) number = found->get<Number>();
}

void read_start(ProbeRank& rank, const json& line) {
  read_number(line, "rank", rank.rank);
  read_number(line, "world", rank.world);
  read_number(line, "cores", rank.cores);
  read_number(line, "threads", rank.threads);
  rank.host = text_at(line, "host");
  rank.python = text_at(line, "python");
  rank.torch = text_at(line, "torch");
  rank.device = text_at(line, "device");
}

void read_end(ProbeRank& rank, const json& line) {
  rank.end = text_at(line, "why");
  read_number(line, "iterations", rank.iterations);
  double self_us = -1;
  read_number(line, "self_us", self_us);
  if (self_us >= 0) rank.self_us = self_us;
}

// A loader is described again when its role becomes known.
void take_loader(ProbeRank& rank, JobLoader loader) {
  for (JobLoader& known : rank.loaders)
    if (known.name == loader.name) {
      known = std::move(loader);
      return;
    }
  rank.loaders.push_back(std::move(loader));
}

void take(ProbeRank& rank, const json& line) {
  const std::string kind = text_at(line, "kind");
  if (kind == "start") read_start(rank, line);
  if (kind == "loader") take_loader(rank, decode<JobLoader>(line));
  if (kind == "segment") rank.segments.push_back(decode<ProbeSegment>(line));
  if (kind == "begin") rank.begun = text_at(line, "change");
  if (kind == "impossible") rank.impossible[text_at(line, "change")] = text_at(line, "why");
  if (kind == "note") rank.notes.push_back(text_at(line, "text"));
  if (kind == "error") rank.error = text_at(line, "text");
  if (kind == "end") read_end(rank, line);
}

void read_lines(const fs::path& file, const std::function<void(const json&)>& take_line) {
  std::istringstream input(base::read_file(file));
  base::read_json_lines(input, file, std::cerr, "left out", [&](const json& line, int) { take_line(line); });
}

struct Workers {
  double fetches = 0;
  std::map<std::string, double> seconds;

  void add(const json& line) {
    double count = 0;
    read_number(line, "fetches", count);
    fetches += count;
    for (const char* key : {"wall", "cpu", "run_queue", "collate"}) {
      double value = 0;
      read_number(line, (std::string(key) + "_s").c_str(), value);
      seconds[key] += value;
    }
  }
};

}  // namespace

ProbeReport read_probe(const fs::path& folder) {
  ProbeReport report;
  Workers workers;
  std::set<std::string> files;
  for (const fs::path& entry : base::entries_of(folder)) {
    const std::string name = entry.filename();
    if (name.starts_with("rank-")) {
      ProbeRank rank;
      read_lines(entry, [&](const json& line) { take(rank, line); });
      report.ranks.push_back(std::move(rank));
    } else if (name.starts_with("worker-")) {
      read_lines(entry, [&](const json& line) { workers.add(line); });
    } else if (name.starts_with("files-")) {
      std::istringstream input(base::read_file(entry));
      for (std::string file; std::getline(input, file);) files.insert(file);
    }
  }
  std::ranges::sort(report.ranks, {}, &ProbeRank::rank);
  // A process beside the ranks that imports torch but never trains is none of them.
  if (report.ranks.size() > 1)
    std::erase_if(report.ranks,
                  [](const ProbeRank& rank) { return rank.end == "no steps" && rank.segments.empty(); });
  if (workers.fetches > 0)
    for (const auto& [name, seconds] : workers.seconds)
      report.worker_ms[name] = 1e3 * seconds / workers.fetches;
  report.files.assign(files.begin(), files.end());
  return report;
}

const JobLoader* training_loader(const ProbeReport& report) {
  if (report.ranks.empty()) return nullptr;
  for (const JobLoader& loader : report.ranks.front().loaders)
    if (loader.role == "training") return &loader;
  return nullptr;
}

}  // namespace harness
