// Adds rows until the time is used up, each with the base that its ratio needs; writes left_out.txt for the
// others.
#include "harness/plan/schedule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <set>

#include "harness/base/file.h"
#include "harness/plan/prediction.h"
#include "harness/stats/provenance.h"

namespace harness {

namespace {

class Chooser {
 public:
  Chooser(const std::vector<PlannedRow>& plan, const std::vector<double>& seconds, double budget_s)
      : plan_(plan), seconds_(seconds), budget_s_(budget_s), reasons_(plan.size()) {
    choice_.chosen.assign(plan.size(), false);
    for (size_t i = 0; i < plan.size(); ++i)
      if (seconds[i] <= 0) {
        choice_.chosen[i] = true;
        if (plan[i].skip_reason.empty()) axes_.insert(axis(i));  // it has finished
      }
  }

  Choice choose() {
    for (size_t i = 0; i < plan_.size(); ++i)
      if (plan_[i].row.published_s > 0) take(i);
    for (size_t i = 0; i < plan_.size(); ++i)
      if (!axes_.count(axis(i))) take(i);
    for (size_t i = 0; i < plan_.size(); ++i) take(i);
    for (size_t i = 0; i < plan_.size(); ++i)
      if (!choice_.chosen[i]) choice_.left_out.push_back({plan_[i].row.id, reasons_[i]});
    return std::move(choice_);
  }

 private:
  size_t base_of(size_t row) const {
    const auto base = std::ranges::find_if(
        plan_, [&](const PlannedRow& other) { return other.row.id == plan_[row].row.base; });
    return size_t(base - plan_.begin());
  }

  // Empty for a row whose base is not in the plan.
  std::string axis(size_t row) const {
    const size_t base = base_of(row);
    if (base == plan_.size()) return "";
    return group_of(plan_[row].row, &plan_[base].row);
  }

  // The row, its base, the base's base etc. that aren't chosen yet. Bases may form a circle.
  std::vector<size_t> with_bases(size_t row) const {
    std::vector<size_t> rows;
    for (size_t next = row; next < plan_.size() && !choice_.chosen[next]; next = base_of(next)) {
      if (std::ranges::find(rows, next) != rows.end()) break;
      rows.push_back(next);
    }
    return rows;
  }

  void take(size_t row) {
    if (choice_.chosen[row]) return;
    const std::vector<size_t> rows = with_bases(row);
    double needed = 0;
    std::vector<std::string> bases;
    for (size_t one : rows) {
      needed += seconds_[one];
      if (one != row) bases.push_back(plan_[one].row.id);
    }
    if (choice_.seconds + needed > budget_s_) {
      reasons_[row] =
          fmt::format("needs {}{}, {} of the budget left", duration_text(needed),
                      bases.empty() ? "" : fmt::format(" with its base {}", fmt::join(bases, ", ")),
                      duration_text(budget_s_ - choice_.seconds));
      return;
    }
    choice_.seconds += needed;
    for (size_t one : rows) {
      choice_.chosen[one] = true;
      axes_.insert(axis(one));
    }
  }

  const std::vector<PlannedRow>& plan_;
  const std::vector<double>& seconds_;
  const double budget_s_;
  std::vector<std::string> reasons_;   // by row: why it did not fit when last tried
  std::set<std::string> axes_ = {""};  // of the chosen rows
  Choice choice_;
};

}  // namespace

Choice choose_rows(const std::vector<PlannedRow>& plan, const std::vector<double>& seconds, double budget_s) {
  return Chooser(plan, seconds, budget_s).choose();
}

std::string describe(const std::vector<LeftOut>& left_out) {
  std::string text;
  for (const LeftOut& one : left_out) text += fmt::format("  {:<14} left out: {}\n", one.row, one.reason);
  return text;
}

namespace {

constexpr const char* kLeftOut = "left_out.txt";

std::string shortest_row(const std::vector<PlannedRow>& plan, const std::vector<double>& by_row) {
  size_t shortest = plan.size();
  for (size_t i = 0; i < plan.size(); ++i)
    if (by_row[i] > 0 && (shortest == plan.size() || by_row[i] < by_row[shortest])) shortest = i;
  return fmt::format("the shortest row, {}, will take about {}", plan[shortest].row.id,
                     duration_text(by_row[shortest]));
}

void fit(Schedule& schedule, const std::vector<PlannedRow>& plan, const std::vector<double>& by_row,
         double budget_s) {
  const Choice choice = choose_rows(plan, by_row, budget_s);
  const auto count = [&](bool chosen) {
    size_t rows = 0;
    for (size_t i = 0; i < plan.size(); ++i) rows += by_row[i] > 0 && choice.chosen[i] == chosen;
    return rows;
  };
  if (count(true) == 0)
    throw PreparationError(fmt::format("--budget {}: too short for any row: {}", duration_text(budget_s),
                                       shortest_row(plan, by_row)));
  std::erase_if(schedule.runs, [&](const Repetition& run) { return !choice.chosen[run.row]; });
  schedule.seconds = choice.seconds;
  schedule.left_out = choice.left_out;
  schedule.described +=
      fmt::format("budget {}: {} of {} rows, about {}\n{}", duration_text(budget_s), count(true),
                  count(true) + count(false), duration_text(choice.seconds), describe(choice.left_out));
}

}  // namespace

Schedule make_schedule(const std::vector<PlannedRow>& plan, const std::vector<Repetition>& runs,
                       const std::vector<Prediction>& of_rows, double budget_s) {
  Schedule schedule{.runs = runs, .of_rows = of_rows};
  for (size_t i = 0; i < plan.size(); ++i)
    if (!plan[i].skip_reason.empty()) schedule.of_rows[i].seconds = 0;
  std::vector<double> by_row(plan.size(), 0);
  for (const Repetition& run : runs) by_row[run.row] += schedule.of_rows[run.row].seconds;
  std::vector<Prediction> running;
  for (size_t i = 0; i < plan.size(); ++i)
    if (by_row[i] > 0) running.push_back(of_rows[i]);
  if (running.empty()) return schedule;
  schedule.seconds = std::accumulate(by_row.begin(), by_row.end(), 0.0);
  const auto counted =
      std::ranges::count_if(runs, [&](const Repetition& run) { return plan[run.row].skip_reason.empty(); });
  schedule.described = describe_predictions(running, schedule.seconds, size_t(counted)) + "\n";
  if (budget_s > 0) fit(schedule, plan, by_row, budget_s);
  return schedule;
}

void write_left_out(const fs::path& run, const std::vector<LeftOut>& left_out) {
  if (!left_out.empty())
    base::write_whole_file(run / kLeftOut, describe(left_out), /*durable=*/false);
  else
    fs::remove(run / kLeftOut);
}

void show_left_out(const fs::path& run, std::ostream& console) {
  std::ifstream stream(run / kLeftOut);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (text.empty()) return;
  console << "left out (./run_matrix --resume " << run.string() << " runs them):\n" << text;
}

}  // namespace harness
