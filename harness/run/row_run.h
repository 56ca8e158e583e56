// Running one planned row and making its record.
#pragma once
#include <nlohmann/json.hpp>

#include "harness/launch/launcher.h"
#include "harness/run/live_line.h"
#include "harness/plan/plan.h"

namespace harness {

struct RowSetting {
  const Workshop& workshop;
  const Request& request;
  const AxisValues& values;
  const Scale& scale;
  const DataSets& data;
  nlohmann::json machine, build;
  fs::path run;  // folder of the run
};

// The record of a row that isn't run.
nlohmann::json skipped_record(const RowSetting& setting, const PlannedRow& planned, int64_t repeat);

// Starts the row's ranks, watches them and returns its record; null when Ctrl-C ended it.
nlohmann::json run_row(const RowSetting& setting, const PlannedRow& planned, int64_t repeat, LiveLine& line);

}  // namespace harness
