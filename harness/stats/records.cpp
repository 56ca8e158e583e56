// Appends records with fsync, and reads them line by line, so that a damaged line does not affect others.
#include "harness/stats/records.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <stdexcept>
#include <tuple>

#include "harness/base/file.h"
#include "harness/base/json_text.h"
#include "harness/contract/phases.h"
#include "harness/contract/record.h"
#include "harness/stats/disturbance.h"

namespace harness {

RecordAttempt attempt_after(const Record& counting, const Record& record, int64_t number) {
  const int64_t before = counting.attempt ? counting.attempt->counts : 1;
  if (!is_ok(counting)) return {number, before};
  const bool better = !is_ok(record) || disturbance_of(record) < disturbance_of(counting);
  return {number, better ? number : before};
}

bool replaces_earlier(const Record& record) {
  return !record.attempt || record.attempt->counts == record.attempt->number;
}

namespace {

using nlohmann::json;

[[noreturn]] void fail(const std::filesystem::path& file, const char* what, int error) {
  const char* next = error == ENOSPC || error == EDQUOT
                         ? "free some space or choose another folder (--out, --history)"
                         : "choose a writable folder (--out, --history)";
  throw std::runtime_error(fmt::format("{}: {}: {}; {}", file.string(), what, std::strerror(error), next));
}

}  // namespace

std::vector<std::string> phases_of(StepPart part) {
  std::vector<std::string> names;
  for (size_t i = 0; i < kPhaseNames.size(); ++i)
    if (part_of(Phase(i)) == part) names.emplace_back(kPhaseNames[i]);
  return names;
}

const std::vector<std::string>& phase_names() {
  static const std::vector<std::string> names(kPhaseNames.begin(), kPhaseNames.end());
  return names;
}

const Record* find_record(const Records& records, const std::string& row, int64_t repeat) {
  const auto found = std::ranges::find_if(
      records, [&](const Record& record) { return record.row == row && record.repeat == repeat; });
  return found == records.end() ? nullptr : &*found;
}

std::vector<std::pair<std::string, RecordList>> by_row(const RecordList& records) {
  std::vector<std::pair<std::string, RecordList>> rows;
  std::map<std::string, size_t> places;
  for (const Record* record : records) {
    const auto [place, is_new] = places.try_emplace(record->row, rows.size());
    if (is_new) rows.push_back({place->first, {}});
    rows[place->second].second.push_back(record);
  }
  return rows;
}

void append_record(const std::filesystem::path& file, const json& record) {
  // Output of a crashed process may contain any bytes.
  std::string line = record.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  const bool is_new = !std::filesystem::exists(file);
  const base::Descriptor descriptor(open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (descriptor.number() < 0) fail(file, "cannot be opened for writing", errno);
  struct stat status {};
  if (fstat(descriptor.number(), &status) != 0) fail(file, "cannot be examined", errno);
  // A crash may have left the last line without its end.
  char last = '\n';
  if (status.st_size > 0 && pread(descriptor.number(), &last, 1, status.st_size - 1) == 1 && last != '\n')
    line.insert(line.begin(), '\n');
  if (const int error = base::write_all(descriptor.number(), line.data(), line.size())) {
    if (ftruncate(descriptor.number(), status.st_size) != 0)
      fail(file, "a partly written record can't be removed", error);
    fail(file, "a record could not be written", error);
  }
  if (fsync(descriptor.number()) != 0) fail(file, "a record may not have reached the disk", errno);
  if (is_new) base::sync_folder(file.parent_path());
}

bool on_emulated_device(const Record& record) { return record.device.kind == "emulated"; }

bool is_of_part(const std::string& line, const std::string& part) { return line.starts_with(part + ": "); }

bool emulates(const Record& record, const std::string& part) {
  return std::ranges::any_of(record.emulated,
                             [&](const std::string& line) { return is_of_part(line, part); });
}

std::string link_that_ran(const Record& record) {
  return (emulates(record, "link") ? "emulated " : "") + record.config.link;
}

bool is_by_construction(const Record& record) {
  return !std::ranges::all_of(record.emulated, is_device_setting);
}

void add_training(Records& records, const Record& trained) {
  for (Record& record : records)
    if (record.row == trained.row) record.training = trained.training;
}

static void read_training(const std::filesystem::path& file, Records& records, std::ostream& warnings) {
  std::ifstream input = base::open_regular(file);  // without the file, nothing has trained yet
  base::read_json_lines(input, file, warnings, "line left out", [&](json object, int) {
    add_training(records, record_from_json(std::move(object)));
  });
}

Records read_records(const std::filesystem::path& run_dir, std::ostream& warnings, Attempts* attempts) {
  const std::filesystem::path file = run_dir / "records.jsonl";
  std::ifstream input = base::open_regular(file);
  if (!input)
    throw std::runtime_error(fmt::format("{}: {}; name the folder of a run, e.g. results/runs/<time>-<host>",
                                         file.string(), std::strerror(errno)));
  Records records;
  using Key = std::tuple<std::string, int64_t, std::string, std::string>;  // row, repeat, scale, device
  std::map<Key, std::pair<size_t, int>> seen;
  base::read_json_lines(input, file, warnings, "line left out", [&](json object, int number) {
    Record record = record_from_json(std::move(object));
    if (attempts && record.attempt) {
      int64_t& made = (*attempts)[{record.row, record.repeat}];
      made = std::max(made, record.attempt->number);
    }
    record.loss.clear();
    for (const char* span : {"read", "decode"}) record.spans_ms.erase(span);
    const auto [earlier, is_first] = seen.try_emplace(
        {record.row, record.repeat, record.scale.name, record.device.kind}, records.size(), number);
    if (is_first) {
      records.push_back(std::move(record));
    } else if (record.attempt) {
      if (replaces_earlier(record)) records[earlier->second.first] = std::move(record);
    } else {
      fmt::print(warnings, "{}:{}: row {} repeat {} again; it replaces line {}\n", file.string(), number,
                 record.row, record.repeat, earlier->second.second);
      records[earlier->second.first] = std::move(record);
      earlier->second.second = number;
    }
  });
  read_training(run_dir / kTrainingFile, records, warnings);
  return records;
}

}  // namespace harness
