// A user's job as something that is started again and again, each time with changes, and whose times become
// records.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/stopwatch.h"
#include "harness/config/request.h"
#include "harness/experiment/intervention.h"
#include "harness/own_job/job_files.h"
#include "harness/own_job/job_record.h"
#include "harness/own_job/job_start.h"

namespace harness {

struct JobRequest {
  std::vector<std::string> command;
  int64_t steps = 0;                 // of each segment; 0: chosen by the time
  int64_t warmup = 0;                // iterations before the first; 0: chosen by the loader's workers
  double within_s = 600;             // no start begins later
  std::vector<std::string> changes;  // only these, by name; empty: all that are not `when_named`
  std::string step_line;             // a regular expression; empty: steps are told by the probe
  bool may_write = false;            // the job writes to the real file systems
  bool cold = false;                 // its files are dropped from the page cache before each start
  std::function<double(double)> device_rate;  // of feed: items/s that a device takes in batches of so many
};

// Iterations of one start during which a change is made; `name`: of the intervention.
struct PlannedSegment {
  std::string name;
  int64_t block = 0;
};

struct PlannedStart {
  std::vector<PlannedSegment> segments;  // in this order
  const Intervention* change = nullptr;  // of the whole start; null: none
  int64_t steps = 0;                     // of each segment
};

class JobSubject {
 public:
  // Makes the folder of a new run, which only the user can read, because the job's output may hold secrets.
  // Throws PreparationError as require_command() and make_run_folder(), std::runtime_error when records can't
  // be written. The arguments must outlive the object.
  JobSubject(const Installation& installation, const Request& request, const JobRequest& job);

  // Starts the job as it is for a few steps, and learns what it is. Returns false after Ctrl-C and when it
  // gives no figure; then the record says why.
  bool survey();
  // Starts it and appends a record for each name and block. Returns false after Ctrl-C.
  bool start(const PlannedStart& planned);

  // Starts it as it is and appends one record of so many steps, a figure or not; `pair`: of a comparison.
  // Returns false after Ctrl-C.
  bool once(int64_t steps, std::optional<RecordPair> pair = {});

  // Records why a change can't be made.
  void skip(const std::string& change, const std::string& why);

  const fs::path& folder() const { return folder_; }
  const JobFacts& facts() const { return facts_; }
  double startup_s() const { return startup_s_; }  // until the first timed step
  const Records& records() const { return records_; }
  // Changes with which the job failed, and those that the probe refused, with the reason.
  const std::map<std::string, std::string>& impossible() const { return impossible_; }
  int64_t settling() const;  // untimed iterations at most before a segment
  int64_t warmup() const;    // and before the first one
  // Iterations that the job makes before it ends by itself; nullopt: no start has come to its end.
  std::optional<int64_t> length() const { return length_; }

 private:
  nlohmann::json plan_of(const PlannedStart& planned, const JobChange& change) const;
  ProbeReport run(const nlohmann::json& plan, const JobChange& change, double limit_s, JobEnd& end);
  void learn(const ProbeReport& report, const JobEnd& end);
  void keep(Record record, const std::string& change, int64_t block, double added_ms);
  void append(Record record);

  const Installation& installation_;
  const JobRequest& job_;
  const bool keep_disturbed_;  // figures count although others took the processor
  const fs::path folder_;
  JobFrame frame_;
  JobFacts facts_;
  JobFiles files_;
  int64_t starts_ = 0, prefetched_ = 0;
  double startup_s_ = 0;
  bool interrupted_ = false;
  std::optional<int64_t> length_;
  std::map<std::string, std::string> impossible_;
  std::map<std::string, int64_t> repeats_;
  Records records_;
};

// Throws PreparationError, with the next step, when no such program can be started.
void require_command(const std::vector<std::string>& command);

}  // namespace harness
