// The plan of a run: for each row whether it runs, or why it can't.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/config/request.h"
#include "harness/config/scales.h"

namespace harness {

struct PlannedRow {
  Row row;
  std::string skip_reason;         // empty: it runs
  std::vector<std::string> notes;  // what runs otherwise than written
};

// One run of one row of a plan, which is given by its index.
struct Repetition {
  size_t row = 0;
  int64_t repeat = 0;
};

// Milliseconds of a step by precision, as `train_slice --probe-precision` measured them; empty: not measured.
using PrecisionTimes = std::map<std::string, double>;

// Why this machine can't start the processes of a row; empty when it can. Asked of rows that nothing else
// rules out.
using WhyNotStarted = std::function<std::string(const Row&)>;

std::vector<PlannedRow> make_plan(const std::vector<Row>& rows, const AxisValues& values,
                                  const PrecisionTimes& times, const Request& request,
                                  const WhyNotStarted& why_not_started);

// Every run of every row: the plan over and over, so that slow changes of the machine spread over all rows
// alike.
std::vector<Repetition> all_runs(const std::vector<PlannedRow>& plan, const Request& request);

std::string describe_plan(const std::vector<PlannedRow>& plan, const Scale& scale);

}  // namespace harness
