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

// What lines of several kinds tell.
struct Said {
  std::string kind, change, why, text;
  KEYS(Said, KEY(kind, "of the line"), KEY(change, "by its name"), KEY(why, "a change is impossible"),
       KEY(text, "of a note or an error"));
};

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
  const auto [kind, change, why, text] = decode<Said>(line);
  if (kind == "start" || kind == "end") read_value(kType<ProbeRank>, &rank, line);
  if (kind == "loader") take_loader(rank, decode<JobLoader>(line));
  if (kind == "segment") rank.segments.push_back(decode<ProbeSegment>(line));
  if (kind == "begin") rank.begun = change;
  if (kind == "impossible") rank.impossible[change] = why;
  if (kind == "note") rank.notes.push_back(text);
  if (kind == "error") rank.error = text;
}

void read_lines(const fs::path& file, const std::function<void(const json&)>& take_line) {
  std::istringstream input(base::read_file(file));
  base::read_json_lines(input, file, std::cerr, "left out", [&](const json& line, int) { take_line(line); });
}

}  // namespace

ProbeReport read_probe(const fs::path& folder) {
  ProbeReport report;
  std::map<std::string, double> of_workers;  // sums of their numbers, by key
  std::set<std::string> files;
  for (const fs::path& entry : base::entries_of(folder)) {
    const std::string name = entry.filename();
    if (name.starts_with("rank-")) {
      ProbeRank rank;
      read_lines(entry, [&](const json& line) { take(rank, line); });
      report.ranks.push_back(std::move(rank));
    } else if (name.starts_with("worker-")) {
      read_lines(entry, [&](const json& line) {
        for (const auto& [key, value] : line.items())
          if (value.is_number()) of_workers[key] += value.get<double>();
      });
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
  if (const double fetches = of_workers["fetches"]; fetches > 0)
    for (const std::string part : {"wall", "cpu", "run_queue", "collate"})
      report.worker_ms[part] = 1e3 * of_workers[part + "_s"] / fetches;
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
