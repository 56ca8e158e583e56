// Runs one planned row and makes its record.
#pragma once
#include <functional>
#include <map>
#include <optional>

#include "harness/contract/emulated_device.h"
#include "harness/contract/record.h"
#include "harness/data/data.h"
#include "harness/launch/launcher.h"
#include "harness/plan/plan.h"
#include "harness/run/live_line.h"

namespace harness {

struct RowSetting {
  const Installation& installation;
  const Request& request;
  const AxisValues& values;
  const Scale& scale;
  const DataSets& data;
  const RecordMachine& machine;
  const RecordBuild& build;
  const std::map<std::string, EmulatedDevice>& device_files;  // those of the rows, by field `device_file`
  fs::path run;                                               // folder of the run
};

// The record of a skipped row.
Record skipped_record(const RowSetting& setting, const PlannedRow& planned, int64_t repeat);

// The record of a row that has not run yet, without figures: status OK, or SKIPPED with its reason.
Record planned_record(const RowSetting& setting, const PlannedRow& planned);

// Adds a check to a record that is OK. A failed one changes the status and removes all figures.
void add_check(Record& record, const RecordCheck& check);

// The record of a row that was not started, with the reason.
Record unstarted_record(const RowSetting& setting, const PlannedRow& planned, int64_t repeat,
                        const std::string& status, const std::string& reason);

// Starts the row's ranks, watches them and returns the record; std::nullopt when Ctrl-C ended the row. `show`
// is called about five times a second.
std::optional<Record> train_row(const RowSetting& setting, const PlannedRow& planned, int64_t repeat,
                                const std::function<void(Progress&)>& show);
// The same with a progress line, and with the row's trace if one is asked for.
std::optional<Record> measure_row(const RowSetting& setting, const PlannedRow& planned, int64_t repeat,
                                  LiveLine& line);

}  // namespace harness
