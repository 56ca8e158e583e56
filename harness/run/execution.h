// One execution of a matrix: prepares plan, data and folder, then runs rows one by one.
#pragma once
#include <functional>
#include <list>
#include <memory>
#include <optional>

#include "harness/data/data.h"
#include "harness/launch/followers.h"
#include "harness/plan/plan.h"
#include "harness/plan/repeats.h"
#include "harness/plan/resume.h"
#include "harness/run/measure_row.h"
#include "harness/run/real_training.h"
#include "harness/run/selected_rows.h"

namespace harness {

// The command that a run belongs to, for its record; empty for a run of the matrix.
struct RunOf {
  std::optional<RecordPair> pair = {};
  std::optional<RecordFeed> feed = {};
  std::optional<RecordIntervention> intervention = {};
  std::map<std::string, double> device_rates = {};
  bool attempt = false;  // the row and repeat have run already, and others disturbed them
};

// The folder of a new run: request.out, or one below results/runs. Throws PreparationError when it holds
// records of another run or can't be written.
fs::path make_run_folder(const Installation& installation, const Request& request);

class Execution {
 public:
  // Returns null after Ctrl-C. Throws ConfigError or PreparationError. The arguments must outlive the result.
  // `change`: called with the selected rows before they are planned and their data is prepared; such a run
  // can't be continued.
  static std::unique_ptr<Execution> prepare(const Installation& installation, const Request& request,
                                            const AxisValues& values,
                                            const std::function<void(Selection&)>& change = {});

  // Continues the run in folder request.out. `request`: from continued_request(). Also throws
  // PreparationError when the run's records were made with other settings or in another environment.
  static std::unique_ptr<Execution> continue_in(const Installation& installation, const Request& request,
                                                const AxisValues& values, Rerun rerun);

  ~Execution();  // waits for processes of its rows that could not be ended

  const std::vector<PlannedRow>& plan() const { return plan_; }
  // The runs to do, in order.
  const std::vector<Repetition>& runs() const { return runs_; }
  // Runs the row once and appends its record, with `of` added; returns false when Ctrl-C ended it. Throws
  // std::runtime_error when the record can't be written, PreparationError when it was made in another
  // environment than the records of the continued run.
  // A row on an emulated device, except of `feed` and `explain`, first trains a few real steps
  // (RealTraining); if they fail, it is not timed.
  bool run(const PlannedRow& planned, int64_t repeat, LiveLine& line, const RunOf& of = {});
  // Trains for real what each row on emulated devices has timed, row by row, and appends the results to
  // training.jsonl; rows that have trained before are left out. Ends early after Ctrl-C, and when go_on,
  // called before each, returns false. Throws as run() does, and PreparationError when no images can be made.
  void train_slices(const std::function<bool()>& go_on);
  // For rows with `file` as their device_file.
  void add_device(const std::string& file, EmulatedDevice device) { device_files_[file] = std::move(device); }

  const fs::path& folder() const { return folder_; }
  fs::path records_file() const { return folder_ / "records.jsonl"; }
  // Including earlier records of a continued run.
  const Records& records() const { return records_; }
  // Which runs may follow the planned ones.
  RepeatRules repeat_rules() const;
  const Attempts& attempts() const { return attempts_; }
  // Removes the files that prepare() made, before any row has run.
  void discard();
  const Scale& scale() const { return scale_; }
  // Replaces the build in records, for a train_slice from another build.
  void set_build(RecordBuild build) { build_ = std::move(build); }

 private:
  Execution(const Installation& installation, const Request& request, const AxisValues& values);
  bool prepare_plan(const std::function<void(Selection&)>& change = {});
  RowSetting setting() const;
  void choose_time_scales();
  std::optional<Record> measure_at_speed(PlannedRow& planned, int64_t repeat, LiveLine& line,
                                         bool cores_are_emulated);
  void number_attempt(Record& record);
  void keep(Record record);
  RealTraining& real_training();

  const Installation& installation_;
  const Request& request_;
  const AxisValues& values_;
  Scale scale_;
  fs::path folder_;
  std::optional<base::FileLock> lock_;
  fs::file_time_type program_;  // when train_slice was built, as this run began
  std::optional<Rerun> rerun_;  // only of a continued run
  std::map<std::string, EmulatedDevice> device_files_;
  std::vector<PlannedRow> plan_;
  std::vector<Repetition> runs_;
  std::vector<std::string> repeated_;
  Attempts attempts_;
  DataSets data_;
  std::list<NodeCopies> copies_;
  std::optional<Leading> leading_;
  RecordMachine machine_;
  RecordBuild build_;
  std::optional<RealTraining> real_training_;
  Records records_;
};

}  // namespace harness
