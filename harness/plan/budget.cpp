// Adds rows until the time is used up, each together with the base row that its ratio needs.
#include "harness/plan/budget.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "harness/plan/prediction.h"
#include "harness/stats/row_group.h"

namespace harness {
namespace {

class Chooser {
 public:
  Chooser(const std::vector<PlannedRow>& plan, const std::vector<double>& seconds, double budget_s)
      : plan_(plan), seconds_(seconds), budget_s_(budget_s), reasons_(plan.size()) {
    choice_.chosen.assign(plan.size(), false);
    for (size_t i = 0; i < plan.size(); ++i)
      if (seconds[i] <= 0) choice_.chosen[i] = true;
  }

  Choice choose() {
    for (size_t i = 0; i < plan_.size(); ++i)
      if (plan_[i].row.published_s > 0) take(i);
    for (size_t i = 0; i < plan_.size(); ++i)
      if (!axes_.count(axis(i))) take(i);
    for (size_t i = 0; i < plan_.size(); ++i) take(i);
    for (size_t i = 0; i < plan_.size(); ++i)
      if (!choice_.chosen[i]) choice_.left_out.push_back({plan_[i].row.id, seconds_[i], reasons_[i]});
    return std::move(choice_);
  }

 private:
  size_t base_of(size_t row) const {
    const auto base = std::find_if(plan_.begin(), plan_.end(), [&](const PlannedRow& other) {
      return other.row.id == plan_[row].row.base;
    });
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
      if (std::find(rows.begin(), rows.end(), next) != rows.end()) break;
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

}  // namespace harness
