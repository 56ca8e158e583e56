// The plan of a run: for each row whether it runs, or why it can't.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "harness/data/data.h"
#include "harness/launch/rank_commands.h"

namespace harness {

struct PlannedRow {
  Row row;
  std::string skip_reason;         // empty: it runs
  std::vector<std::string> notes;  // what runs otherwise than written
};

// One run of one row of a plan, which is given by its index.
struct RowRun {
  size_t row = 0;
  int64_t repeat = 0;
};

// Milliseconds of a step by precision, as `train_slice --probe-precision` measured them; empty: not measured.
using PrecisionTimes = std::map<std::string, double>;

std::vector<PlannedRow> make_plan(const std::vector<Row>& rows, const AxisValues& values,
                                  const PrecisionTimes& times, const Request& request);

// After the data is there: skips cold rows that would read an image twice and rows that lack images to
// validate on, and gives the others of these as many classes as their data has.
void check_data(std::vector<PlannedRow>& plan, const DataSets& sets);

// How often a request runs a row.
int64_t repeats_of(const Row& row, const Request& request);
// Every run of every row: the plan over and over, so that slow changes of the machine spread over all rows
// alike.
std::vector<RowRun> all_runs(const std::vector<PlannedRow>& plan, const Request& request);

std::string describe_plan(const std::vector<PlannedRow>& plan, const Scale& scale);

}  // namespace harness
