// The file of records: one JSON line per row and repeat, appended crash-safely; damaged lines are skipped on
// reading.
#pragma once
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "harness/contract/phases.h"
#include "harness/contract/record.h"

namespace harness {

// The attempt after `counting`, which counted until now, as record.attempt. The least disturbed attempt
// counts (disturbance_of()); its speed isn't looked at. Of equal ones the first counts. A failed attempt
// counts, so that no failure is hidden.
RecordAttempt attempt_after(const Record& counting, const Record& record, int64_t number);

// Number of attempts so far, by row and repeat; absent: one.
using Attempts = std::map<std::pair<std::string, int64_t>, int64_t>;

// Whether the record replaces earlier ones of the same row and repeat.
bool replaces_earlier(const Record& record);

// Appends one line to `file` and returns after fsync. Throws std::runtime_error with the file and the next
// step; the earlier content is kept.
void append_record(const std::filesystem::path& file, const nlohmann::json& record);

// Whether an entry of a record's `emulated` names the device file of an emulated device, or its emulated
// cores. What rows take with them follows from real code too, and is not by construction as such.
inline bool is_device_file(const std::string& emulated) { return emulated.rfind("device: ", 0) == 0; }
inline bool is_core_rate(const std::string& emulated) { return emulated.rfind("cores: ", 0) == 0; }
inline bool is_device_setting(const std::string& emulated) {
  return is_device_file(emulated) || is_core_rate(emulated);
}
// Whether the row ran on an emulated device: its host only launched and waited, so that its phases are those
// of the device's timelines.
bool on_emulated_device(const Record& record);
// Lines of a record's `emulated` begin with the part that they are of: `link: ...`, `host_work: ...`.
bool is_of_part(const std::string& line, const std::string& part);
bool emulates(const Record& record, const std::string& part);
// Whether a setting, other than an emulated device, replaces hardware in this record, so that what follows
// from it is no finding.
bool is_by_construction(const Record& record);

// The row's link, `emulated ethernet` if the suite put another one in its place.
std::string link_that_ran(const Record& record);

// The valid records of run_dir/records.jsonl, in the order of the file, without loss and the loader's spans,
// which no table shows, and with the training of their rows. Invalid lines are skipped and listed in
// `warnings` as file:line with the reason; a later record of the same row and repeat replaces an earlier one,
// except an attempt that doesn't count. Throws std::runtime_error when the file does not exist. `attempts`,
// if given, is set to the attempts of rows that ran again, those that don't count included.
Records read_records(const std::filesystem::path& run_dir, std::ostream& warnings,
                     Attempts* attempts = nullptr);

// Lines of RUN/training.jsonl are records of rows on emulated devices whose slice trained for real.
constexpr const char* kTrainingFile = "training.jsonl";
// Sets `training` of the records of that row.
void add_training(Records& records, const Record& trained);

// All phases in their order within a step.
const std::vector<std::string>& phase_names();
std::vector<std::string> phases_of(StepPart part);

// The record of this row and repeat; null without one.
const Record* find_record(const Records& records, const std::string& row, int64_t repeat);

// Records grouped by row; rows in the order of their first record.
std::vector<std::pair<std::string, RecordList>> by_row(const RecordList& records);

}  // namespace harness
