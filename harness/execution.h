// One execution of a matrix, prepared: its rows planned, its data ready, its folder made; rows are then run
// one by one.
#pragma once
#include <list>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/followers.h"
#include "harness/node_copies.h"
#include "harness/plan.h"
#include "harness/row_run.h"

namespace harness {

// What `train_slice --values` says; an empty object when the program isn't there.
AxisValues ask_values(const Workshop& workshop);

// The rows that a request selects, resolved; the scale they have.
struct Selection {
  Scale scale;
  std::vector<Row> rows;
  std::map<std::string, std::vector<std::string>> notes;  // by id, from --devices
};
Selection select_rows(const Workshop& workshop, const Request& request, const AxisValues& values);
// The same for rows that are to run: the worker must be built, and --trace and --wrap must fit them.
Selection checked_selection(const Workshop& workshop, const Request& request, const AxisValues& values);

class Execution {
 public:
  // Null when Ctrl-C came first. Throws ConfigError or PreparationError. All three must outlive it.
  static std::unique_ptr<Execution> prepare(const Workshop& workshop, const Request& request,
                                            const AxisValues& values);

  const std::vector<PlannedRow>& plan() const { return plan_; }
  int64_t repeats_of(const PlannedRow& planned) const;
  // Runs the row once and keeps its record, with the keys of `further` added; false when Ctrl-C ended it.
  // Throws std::runtime_error when the record can't be kept.
  bool run(const PlannedRow& planned, int64_t repeat, LiveLine& line,
           const nlohmann::json& further = nlohmann::json::object());

  const fs::path& folder() const { return folder_; }
  fs::path records_file() const { return folder_ / "records.jsonl"; }
  const std::vector<nlohmann::json>& records() const { return records_; }
  const Scale& scale() const { return scale_; }
  // What a record says of the build; another train_slice than our own has another one.
  void set_build(nlohmann::json build) { build_ = std::move(build); }

 private:
  Execution(const Workshop& workshop, const Request& request, const AxisValues& values);
  bool prepare_plan();

  const Workshop& workshop_;
  const Request& request_;
  const AxisValues& values_;
  Scale scale_;
  fs::path folder_;
  std::vector<PlannedRow> plan_;
  DataSets data_;
  std::list<NodeCopies> copies_;
  std::optional<Leading> leading_;
  nlohmann::json machine_, build_;
  std::vector<nlohmann::json> records_;
};

}  // namespace harness
