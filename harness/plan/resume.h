// Resuming: what a run still lacks, and whether it may be continued here.
#pragma once
#include <functional>
#include <vector>

#include "harness/contract/record.h"
#include "harness/plan/plan.h"

namespace harness {

// Which runs of rows a continued run does.
enum class Rerun {
  missing,  // those without a record
  failed    // those whose latest record is neither OK nor SKIPPED
};

// Of `runs`, in their order. `records`: one for each row and repeat, as read_records() leaves them.
std::vector<Repetition> runs_left(const std::vector<PlannedRow>& plan, const std::vector<Repetition>& runs,
                                  const Records& records, Rerun rerun);

// What a record of this row will say of where it was made, as far as that is known before it runs.
using Surroundings = std::function<Record(const Row&)>;

// Throws PreparationError when a record that stays (one that `left` does not make again) was made with other
// settings or in another environment: a table must not mix them.
void check_same_experiment(const fs::path& run, const std::vector<PlannedRow>& plan,
                           const std::vector<Repetition>& left, const Records& records,
                           const Surroundings& here);

// The same for what only shows once a row has run, like a device's driver.
void check_same_environment(const fs::path& run, const Records& records, const Record& record);

// Held while a run is written, so that no second program continues it. Throws PreparationError when another
// one does.
class RunLock {
 public:
  explicit RunLock(const fs::path& run);
  RunLock(const RunLock&) = delete;
  ~RunLock();

 private:
  int descriptor_;
};

}  // namespace harness
