// Runs one row unchanged and with its changes, block by block.
#pragma once
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "harness/base/stopwatch.h"
#include "harness/experiment/intervention.h"
#include "harness/run/execution.h"

namespace harness {

// The row's devices without communication, on made-up batches, for device_changes(): ranks leave out their
// collectives, so that each is measured beside the others; of data_parallel one device. id: lone_devices.
Row lone_devices(const Row& row, const AxisValues& values);

// timed_device and faster_device, from records of lone_devices (and of made_up, for collectives). Only for
// rows on the CPU. batch_divisor: of the scale; emulated devices divide fixed costs by it.
std::vector<ChangedRow> device_changes(const Row& row, const Records& calibration, int64_t batch_divisor,
                                       const AxisValues& values);

// Rows with time added to each batch, a tenth of the unchanged step: added_host_work and added_read_time.
std::vector<ChangedRow> burdens_of(const Row& row, double step_ms, const AxisValues& values);

// Which changes are asked for, by name, and those that they are compared with; without names all
// that are not `when_named`.
class WantedChanges {
 public:
  // Throws ConfigError for an unknown name.
  explicit WantedChanges(const std::vector<std::string>& names);
  bool has(const std::string& change) const;

 private:
  const std::set<std::string> names_;
};

// A run of the explained row, with its place in the record.
struct Step {
  PlannedRow planned;
  RecordIntervention of;
};
// `why_not` becomes the reason for skipping it.
Step step_of(const Row& row, const ChangedRow& changed);

class ExplainedRow {
 public:
  // steps: of the first block, among them the unchanged row. The arguments must outlive the object.
  ExplainedRow(Execution& execution, const Row& row, std::vector<Step> steps, const WantedChanges& wanted,
               const AxisValues& values, LiveLine& line)
      : execution_(execution),
        row_(row),
        wanted_(wanted),
        steps_(std::move(steps)),
        values_(values),
        line_(line) {}

  // First the unchanged row and the changes that are `first` once; the other changes once, as long as that
  // takes half of within_s. Then further blocks, of what may be a cause before the rest, until within_s is
  // over. If slices may be shortened, one block takes about half of within_s, as a survey of a few batches
  // tells. Returns false after Ctrl-C.
  bool run(int64_t blocks, double within_s, bool may_shorten, std::mt19937& random);

 private:
  bool fit_into(double within_s);
  bool first_block(double within_s, bool may_shorten);
  void leave_out_what_gains_nothing();
  Records calibration() const;
  const Record* last_of(const std::string& change) const;
  bool run(const Step& step);

  Execution& execution_;
  Row row_;
  const WantedChanges& wanted_;
  std::vector<Step> steps_;  // of later blocks, once the first one has run
  const AxisValues& values_;
  LiveLine& line_;
  const base::Stopwatch watch_;
  std::map<std::string, int64_t> repeats_, failures_;  // by row id; by change
};

}  // namespace harness
