// The plan of a run: for each row whether it runs, or why it can't, and the commands of its ranks.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "harness/child_process.h"
#include "harness/config.h"
#include "harness/data.h"
#include "harness/workshop.h"

namespace harness {

struct PlannedRow {
  Row row;
  std::string skip_reason;         // empty: it runs
  std::vector<std::string> notes;  // what runs otherwise than written
};

// Milliseconds of a step by precision, as `train_slice --probe-precision` measured them; empty: not measured.
using PrecisionTimes = std::map<std::string, double>;

std::vector<PlannedRow> make_plan(const std::vector<Row>& rows, const AxisValues& values,
                                  const PrecisionTimes& times, bool slow);

// After the data is there: skips cold rows that would read an image twice.
void check_data(std::vector<PlannedRow>& plan, const Data& data);

// Processes of a row.
int64_t world_size(const Row& row, const AxisValues& values);

// The ranks' commands. port: where rank 0 will listen, on listen_fd, which only it inherits.
std::vector<Command> rank_commands(const Row& row, const AxisValues& values, const Workshop& workshop,
                                   const fs::path& directory, int port, int listen_fd);

std::string describe_plan(const std::vector<PlannedRow>& plan);

}  // namespace harness
