// One execution of a matrix: prepares data, runs row after row, appends a record as each ends.
#pragma once
#include <ostream>

#include "harness/plan.h"
#include "harness/workshop.h"

namespace harness {

enum ExitCode { kAllGood = 0, kRowFailed = 1, kBadInput = 2, kNothingRan = 3, kInterrupted = 130 };

// Throws ConfigError or PreparationError before anything has run. Returns the exit code.
int run_matrix(const Workshop& workshop, const Request& request, std::ostream& console);

// What `train_slice --values` says; an empty object when the program isn't there.
AxisValues ask_values(const Workshop& workshop);

// The rows that a request selects, resolved; the scale they have.
struct Selection {
  Scale scale;
  std::vector<Row> rows;
  std::map<std::string, std::vector<std::string>> notes;  // by id, from --devices
};
Selection select_rows(const Workshop& workshop, const Request& request, const AxisValues& values);

// Rebuilds tables (and plots) of a finished run. Returns the exit code.
int rebuild_report(const Workshop& workshop, const fs::path& run, bool plots, std::ostream& console);

}  // namespace harness
