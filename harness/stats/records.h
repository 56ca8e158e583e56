// The file of records: one JSON line per row and repeat, appended crash-safely and read whatever became of
// it.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "harness/contract/record.h"

namespace harness {

// Adds one line to `file` and returns when the disk has it. Throws std::runtime_error naming the file and the
// next step; what the file held before is then unchanged.
void append_record(const std::filesystem::path& file, const nlohmann::json& record);

// The good records of run_dir/records.jsonl, in the order of the file. Each bad line is named in `warnings`
// as file:line with the reason and left out; of two records of one row and repeat, the later counts. Without
// loss and the loader's spans, which no table shows. Throws std::runtime_error when
// there is no such file.
Records read_records(const std::filesystem::path& run_dir, std::ostream& warnings);

// Why a report can't use this record, empty when it can.
std::string record_problem(const nlohmann::json& record);

// Every phase in the order of time within a step.
const std::vector<std::string>& phase_names();

// Records of one row together, rows in the order in which they first occur.
std::vector<std::pair<std::string, RecordList>> by_row(const RecordList& records);

}  // namespace harness
