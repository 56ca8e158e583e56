// The plan of a run: which rows run, and why the others are skipped.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "harness/config/request.h"
#include "harness/config/scales.h"

namespace harness {

struct PlannedRow {
  Row row;
  std::string skip_reason;         // empty: it runs
  std::vector<std::string> notes;  // deviations from the config
  double expected_batch_s = 0;     // on emulated devices, as they are modelled; 0: unknown
};

// One run of one row.
struct Repetition {
  size_t row = 0;  // index in the plan
  int64_t repeat = 0;
};

// Why this machine can't start the processes of a row; empty when it can. Called after all other checks
// passed.
using WhyNotStarted = std::function<std::string(const Row&)>;

// `cores`: those of the machine that the rows may use.
std::vector<PlannedRow> make_plan(const std::vector<Row>& rows, const AxisValues& values,
                                  const Request& request, const WhyNotStarted& why_not_started,
                                  int64_t cores);

// All runs of all rows: repeat 0 of all rows, then repeat 1 etc., so that slow drifts of the machine affect
// all rows equally.
std::vector<Repetition> all_runs(const std::vector<PlannedRow>& plan, const Request& request);

std::string describe_plan(const std::vector<PlannedRow>& plan, const Scale& scale);

}  // namespace harness
