// One execution of a matrix, prepared: its rows planned, its data ready, its folder made; rows are then run
// one by one.
#pragma once
#include <list>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/data/node_copies.h"
#include "harness/launch/followers.h"
#include "harness/plan/plan.h"
#include "harness/plan/resume.h"
#include "harness/run/measure_row.h"

namespace harness {

// What `train_slice --values` says; an empty object when the program isn't there.
AxisValues ask_values(const Installation& installation);

// The rows that a request selects, resolved; the scale they have.
struct Selection {
  Scale scale;
  std::vector<Row> rows;
  std::map<std::string, std::vector<std::string>> notes;  // by id, from --devices
};
Selection select_rows(const Installation& installation, const Request& request, const AxisValues& values);
// With the notes of the selection.
std::vector<PlannedRow> make_plan(const Selection& selection, const AxisValues& values,
                                  const PrecisionTimes& times, const Request& request);
// The same for rows that are to run: the worker must be built, and --trace and --wrap must fit them.
Selection checked_selection(const Installation& installation, const Request& request,
                            const AxisValues& values);

class Execution {
 public:
  // Null when Ctrl-C came first. Throws ConfigError or PreparationError. All three must outlive it.
  static std::unique_ptr<Execution> prepare(const Installation& installation, const Request& request,
                                            const AxisValues& values);

  // The same in the folder of a run that has begun, request.out: what it still lacks. `request` is
  // continued_request(). Throws PreparationError too when its records were made otherwise.
  static std::unique_ptr<Execution> continue_in(const Installation& installation, const Request& request,
                                                const AxisValues& values, Rerun rerun);

  ~Execution();  // waits for processes of its rows that could not be ended at once

  const std::vector<PlannedRow>& plan() const { return plan_; }
  int64_t repeats_of(const PlannedRow& planned) const { return harness::repeats_of(planned.row, request_); }
  // What is to run, in this order.
  const std::vector<Repetition>& runs() const { return runs_; }
  // Runs the row once and keeps its record, with `pair` added; false when Ctrl-C ended it.
  // Throws std::runtime_error when the record can't be kept, PreparationError when it doesn't belong to those
  // of the run that is continued.
  bool run(const PlannedRow& planned, int64_t repeat, LiveLine& line,
           const std::optional<RecordPair>& pair = std::nullopt);

  const fs::path& folder() const { return folder_; }
  fs::path records_file() const { return folder_ / "records.jsonl"; }
  // Those of a run that is continued included.
  const Records& records() const { return records_; }
  // Gives a folder that nothing has run in free again.
  void discard();
  const Scale& scale() const { return scale_; }
  // What a record says of the build; another train_slice than our own has another one.
  void set_build(RecordBuild build) { build_ = std::move(build); }

 private:
  Execution(const Installation& installation, const Request& request, const AxisValues& values);
  bool prepare_plan();
  Record surroundings(const Row& row) const;
  void keep(Record record);

  const Installation& installation_;
  const Request& request_;
  const AxisValues& values_;
  Scale scale_;
  fs::path folder_;
  std::optional<RunLock> lock_;
  std::optional<Rerun> rerun_;  // of a run that is continued
  std::vector<PlannedRow> plan_;
  std::vector<Repetition> runs_;
  DataSets data_;
  std::list<NodeCopies> copies_;
  std::optional<Leading> leading_;
  RecordMachine machine_;
  RecordBuild build_;
  Records records_;
};

}  // namespace harness
