// The commands on a user's own training job.
#pragma once
#include <ostream>

#include "harness/config/request.h"
#include "harness/contract/emulated_device.h"
#include "harness/own_job/job_subject.h"

namespace harness {

// What binds it? Measures it as it is and with one change at a time, in blocks (request.repeats, or
// kFewestRuns).
// Returns kAllGood when changes were compared, kNothingRan when none could be, kRowFailed when the job fails
// as it is, kInterrupted after Ctrl-C. Throws PreparationError before anything has started.
int explain_job(const Installation& installation, const Request& request, const JobRequest& job,
                std::ostream& console);

// Starts it once and keeps its steps as a record. Returns kAllGood, kRowFailed or kInterrupted; throws as
// explain_job().
int record_job(const Installation& installation, const Request& request, const JobRequest& job,
               std::ostream& console);

// Starts two commands in turn, in random order within each of request.repeats blocks (default kBlocks), and
// compares them as `ab` compares settings of rows, in request.out. `other`: the second command.
int compare_jobs(const Installation& installation, const Request& request, const JobRequest& job,
                 const std::vector<std::string>& other, std::ostream& console);

struct TraceImport {
  std::vector<fs::path> files;  // one of each rank, or one folder that holds them
  int64_t batch = 0;            // items of a step on each rank; 0: the traces tell
  std::string model = "own", precision = "own";
};
// Makes a record of traces by torch.profiler, as record_job() does of a run. Throws PreparationError, with
// file and next step, for what is no trace and for ranks that don't belong together.
int import_traces(const Installation& installation, const Request& request, const TraceImport& asked,
                  std::ostream& console);

// What one device of the user's takes from the loader; one of them is set.
struct JobDevice {
  double step_ms = 0;  // for a batch of the loader
  double items_per_s = 0;
  std::optional<PrecisionCosts> costs;  // of a device file
};
// How many such devices does the job's loader feed? Takes its loader over at the first batch and drains it.
// Returns kAllGood when it feeds at least one, kRegression when not, else as explain_job().
int feed_job(const Installation& installation, const Request& request, const JobRequest& job,
             const JobDevice& device, std::ostream& console);

}  // namespace harness
