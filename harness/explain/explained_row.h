// Runs one row unchanged and with its changes, block by block.
#pragma once
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "harness/explain/changed_rows.h"
#include "harness/run/execution.h"

namespace harness {

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
Step step_of(const Row& row, const ChangedRow& changed, double added_ms = 0);

class ExplainedRow {
 public:
  // steps: of the first block, the unchanged row first. The arguments must outlive the object.
  ExplainedRow(Execution& execution, const Row& row, std::vector<Step> steps, const WantedChanges& wanted,
               const AxisValues& values, LiveLine& line)
      : execution_(execution),
        row_(row),
        wanted_(wanted),
        steps_(std::move(steps)),
        values_(values),
        line_(line) {}

  // No run starts after `within_s`, except those of the first block; if slices may be shortened, it takes
  // about as long at most. Returns false after Ctrl-C.
  bool run(int64_t blocks, double within_s, bool may_shorten, std::mt19937& random);

 private:
  void fit_into(double within_s, bool may_shorten);
  bool first_block(double within_s, bool may_shorten);
  bool add(const ChangedRow& changed, double added_ms);
  Records calibration() const;
  const Record* last_of(const std::string& change) const;
  bool run(const Step& step);

  Execution& execution_;
  Row row_;
  const WantedChanges& wanted_;
  std::vector<Step> steps_;  // of later blocks, once the first one has run
  const AxisValues& values_;
  LiveLine& line_;
  std::map<std::string, int64_t> repeats_, failures_;  // by row id; by change
};

}  // namespace harness
