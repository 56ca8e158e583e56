// Continuing a run: which runs of rows are left, and whether this environment allows it.
#pragma once
#include <functional>
#include <vector>

#include "harness/base/file_lock.h"
#include "harness/contract/record.h"
#include "harness/plan/plan.h"

namespace harness {

// Which runs of rows to repeat.
enum class Rerun {
  missing,  // those without a record
  failed    // those whose latest record is neither OK nor SKIPPED
};

// The runs in `runs` that are left, in the same order. `records`: one per row and repeat, from
// read_records().
std::vector<Repetition> runs_left(const std::vector<PlannedRow>& plan, const std::vector<Repetition>& runs,
                                  const Records& records, Rerun rerun);

// Machine, build and data that a record of this row will have, as far as known before it runs.
using Surroundings = std::function<Record(const Row&)>;

// Throws PreparationError when a record that is not repeated (not in `left`) was made with other settings or
// in another environment: a table must not mix them.
void check_same_experiment(const fs::path& run, const std::vector<PlannedRow>& plan,
                           const std::vector<Repetition>& left, const Records& records,
                           const Surroundings& here);

// The same check after a row has run, when also e.g. the device's driver is known.
void check_same_environment(const fs::path& run, const Records& records, const Record& record);

// Lock of a run's folder, to be held while it is written. Throws PreparationError when another run_matrix
// holds it.
base::FileLock lock_run(const fs::path& run);

}  // namespace harness
