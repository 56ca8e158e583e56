// Appends records with fsync, and reads them line by line so that one damaged line costs one line.
#include "harness/records.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <stdexcept>
#include <tuple>
#include <variant>

#include "harness/base/file.h"
#include "harness/base/json_text.h"
#include "harness/row.h"

namespace harness {
namespace {

using nlohmann::json;

constexpr std::array statuses = {"OK",      "SKIPPED", "DIVERGED", "OUT_OF_MEMORY",
                                 "TIMEOUT", "HUNG",    "CRASHED",  "INVALID"};

[[noreturn]] void fail(const std::filesystem::path& file, const char* what, int error) {
  const char* next = error == ENOSPC || error == EDQUOT
                         ? "free space there or choose another folder (--out, --history)"
                         : "choose a writable folder (--out, --history)";
  throw std::runtime_error(fmt::format("{}: {}: {}; {}", file.string(), what, std::strerror(error), next));
}

struct Descriptor {
  int number = -1;
  ~Descriptor() {
    if (number >= 0) close(number);
  }
};

// JSON has no NaN: one in memory becomes null in a file, and is no number here.
bool is_time(const json& value) {
  return value.is_number() && std::isfinite(value.get<double>()) && value.get<double>() >= 0;
}

// What reports look into must be of the kind they expect, wherever the record comes from.
constexpr std::array objects = {"machine",       "build",    "data",        "precision", "cache",
                                "window",        "ring",     "spans_ms",    "device_ms", "strategy",
                                "clock",         "versions", "environment", "ceilings",  "accuracy",
                                "communication", "link",     "timeline",    "trace",     "object_store"};
constexpr std::array lists = {"rank_map", "notes", "emulated", "checks", "warnings", "gpu"};

std::string kind_problem(const json& record) {
  for (const char* key : objects)
    if (record.contains(key) && !record[key].is_object()) return fmt::format("`{}` is no object", key);
  for (const char* key : lists)
    if (record.contains(key) && !record[key].is_array()) return fmt::format("`{}` is no list", key);
  return "";
}

std::string config_problem(const json& config) {
  for (const Field& field : fields()) {
    const auto value = config.find(field.name);
    if (value == config.end()) continue;
    const bool is_text = std::holds_alternative<std::string Row::*>(field.member);
    const bool is_switch = std::holds_alternative<bool Row::*>(field.member);
    const char* expected = is_text ? "text" : is_switch ? "true or false" : "number";
    if (is_text ? !value->is_string() : is_switch ? !value->is_boolean() : !value->is_number())
      return fmt::format("`config.{}` is {}, expected {}", field.name, value->dump(), expected);
  }
  return "";
}

std::string samples_problem(const json& record) {
  const auto batches = static_cast<size_t>(number_at(record, "/timed_batches"));
  const json& samples = samples_of(record);
  if (!samples.is_object()) return "samples_ms is no object";
  size_t ranks = 0;
  for (const auto& [phase, per_rank] : samples.items()) {
    if (std::find(phase_names().begin(), phase_names().end(), phase) == phase_names().end())
      return "samples_ms." + phase + " is no phase that this program knows";
    if (!per_rank.is_array() || per_rank.empty()) return "samples_ms." + phase + " has no list per rank";
    if (ranks == 0) ranks = per_rank.size();
    if (per_rank.size() != ranks)
      return "samples_ms." + phase + " has another number of ranks than the phases before";
    for (const json& times : per_rank) {
      if (!times.is_array() || times.size() != batches)
        return fmt::format("samples_ms.{} doesn't have {} batches on every rank", phase, batches);
      for (const json& time : times)
        if (!is_time(time))
          return fmt::format("samples_ms.{} holds {}, which is no time", phase, time.dump());
    }
  }
  return "";
}

}  // namespace

const std::vector<std::string>& phase_names() {
  static const std::vector<std::string> names = {"load",    "h2d",    "scatter", "broadcast",
                                                 "forward", "gather", "loss",    "backward",
                                                 "reduce",  "sync",   "step",    "other"};
  return names;
}

std::vector<std::pair<std::string, RecordList>> by_row(const RecordList& records) {
  std::vector<std::pair<std::string, RecordList>> rows;
  std::map<std::string, size_t> places;
  for (const json* record : records) {
    const auto [place, is_new] = places.try_emplace(text_at(*record, "/row"), rows.size());
    if (is_new) rows.push_back({place->first, {}});
    rows[place->second].second.push_back(record);
  }
  return rows;
}

const json& samples_of(const json& record) {
  static const json none = json::object();
  const auto samples = record.find("samples_ms");
  return samples == record.end() ? none : *samples;
}

std::string text_at(const json& record, const char* pointer) {
  const json::json_pointer where(pointer);
  if (!record.contains(where)) return "";
  const json& value = record.at(where);
  return value.is_string() ? value.get<std::string>() : "";
}

double number_at(const json& record, const char* pointer, double otherwise) {
  const json::json_pointer where(pointer);
  if (!record.contains(where)) return otherwise;
  const json& value = record.at(where);
  return value.is_number() ? value.get<double>() : otherwise;
}

std::string record_problem(const json& record) {
  if (!record.is_object()) return "not a JSON object";
  if (!record.contains("schema")) return "no `schema`: not a record";
  if (record["schema"] != 1) return "schema " + record["schema"].dump() + ", this program reads 1";
  if (text_at(record, "/row").empty()) return "`row` is missing";
  if (number_at(record, "/repeat", -1) < 0) return "`repeat` is missing or negative";
  const std::string status = text_at(record, "/status");
  if (std::find(statuses.begin(), statuses.end(), status) == statuses.end())
    return "unknown status '" + status + "'";
  if (!record.contains("config") || !record["config"].is_object()) return "`config` is missing";
  if (text_at(record, "/scale/name").empty()) return "`scale.name` is missing";
  if (text_at(record, "/device/kind").empty()) return "`device.kind` is missing";
  if (const std::string problem = kind_problem(record); !problem.empty()) return problem;
  if (const std::string problem = config_problem(record["config"]); !problem.empty()) return problem;
  if (status != "OK") return "";
  for (const char* key : {"/timed_batches", "/total_s"})
    if (number_at(record, key) <= 0 || !std::isfinite(number_at(record, key)))
      return fmt::format("`{}` is missing or not positive", key + 1);
  return samples_problem(record);
}

void append_record(const std::filesystem::path& file, const json& record) {
  // Text of a crashed process may hold any bytes.
  std::string line = record.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  const bool is_new = !std::filesystem::exists(file);
  Descriptor descriptor{open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644)};
  if (descriptor.number < 0) fail(file, "cannot be opened for writing", errno);
  struct stat status {};
  if (fstat(descriptor.number, &status) != 0) fail(file, "cannot be examined", errno);
  // A line that a crash cut off must not swallow this one.
  char last = '\n';
  if (status.st_size > 0 && pread(descriptor.number, &last, 1, status.st_size - 1) == 1 && last != '\n')
    line.insert(line.begin(), '\n');
  for (size_t done = 0; done < line.size();) {
    const ssize_t wrote = write(descriptor.number, line.data() + done, line.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) {
      const int error = errno;
      if (ftruncate(descriptor.number, status.st_size) != 0)
        fail(file, "a partly written record stays", error);
      fail(file, "a record could not be written", error);
    }
    done += static_cast<size_t>(wrote);
  }
  if (fsync(descriptor.number) != 0) fail(file, "a record may not have reached the disk", errno);
  if (!is_new) return;
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  Descriptor entry{open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (entry.number >= 0)
    fsync(entry.number);  // the new name too; some file systems refuse, and lose nothing by it
}

std::vector<json> read_records(const std::filesystem::path& run_dir, std::ostream& warnings) {
  const std::filesystem::path file = run_dir / "records.jsonl";
  std::ifstream input = base::open_regular(file);
  if (!input)
    throw std::runtime_error(fmt::format("{}: {}; name the folder of a run, e.g. results/runs/<time>-<host>",
                                         file.string(), std::strerror(errno)));
  std::vector<json> records;
  std::map<std::tuple<std::string, double, std::string, std::string>, std::pair<size_t, int>> seen;
  std::string line;
  for (int number = 1; std::getline(input, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const bool cut_off = input.eof();  // no newline: the writer was stopped inside this line
    json record = base::parse_json(line);
    std::string problem = !record.is_discarded() ? record_problem(record)
                          : cut_off              ? "the line is cut off; the run was stopped while writing it"
                                                 : "not JSON, or nested too deep";
    if (!problem.empty()) {
      fmt::print(warnings, "{}:{}: {}; line left out\n", file.string(), number, problem);
      continue;
    }
    record.erase("loss");
    for (const char* span : {"read", "decode"})
      if (record.contains("spans_ms") && record["spans_ms"].is_object()) record["spans_ms"].erase(span);
    const auto key = std::make_tuple(text_at(record, "/row"), number_at(record, "/repeat"),
                                     text_at(record, "/scale/name"), text_at(record, "/device/kind"));
    const auto [earlier, is_first] = seen.try_emplace(key, records.size(), number);
    if (is_first) {
      records.push_back(std::move(record));
      continue;
    }
    fmt::print(warnings, "{}:{}: row {} repeat {} again; it replaces line {}\n", file.string(), number,
               std::get<0>(key), std::get<1>(key), earlier->second.second);
    records[earlier->second.first] = std::move(record);
    earlier->second.second = number;
  }
  return records;
}

}  // namespace harness
