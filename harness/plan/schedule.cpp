// Sums the predicted times over all repeats, and writes left_out.txt for rows beyond the budget.
#include "harness/plan/schedule.h"

#include <fmt/format.h>

#include <fstream>
#include <numeric>

#include "harness/base/file.h"

namespace harness {
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
  std::vector<Repetition> runs;
  for (const Repetition& run : schedule.runs)
    if (choice.chosen[run.row]) runs.push_back(run);
  schedule.runs = std::move(runs);
  schedule.left_out = choice.left_out;
  schedule.described +=
      fmt::format("budget {}: {} of {} rows, about {}\n{}", duration_text(budget_s), count(true),
                  count(true) + count(false), duration_text(choice.seconds), describe(choice.left_out));
}

}  // namespace

Schedule make_schedule(const std::vector<PlannedRow>& plan, const std::vector<Repetition>& runs,
                       const std::vector<Prediction>& of_rows, double budget_s) {
  Schedule schedule;
  schedule.runs = runs;
  schedule.of_rows = of_rows;
  for (size_t i = 0; i < plan.size(); ++i)
    if (!plan[i].skip_reason.empty()) schedule.of_rows[i].seconds = 0;
  std::vector<double> by_row(plan.size(), 0);
  size_t counted = 0;
  for (const Repetition& run : runs) {
    if (!plan[run.row].skip_reason.empty()) continue;
    by_row[run.row] += of_rows[run.row].seconds;
    ++counted;
  }
  std::vector<Prediction> running;
  for (size_t i = 0; i < plan.size(); ++i)
    if (by_row[i] > 0) running.push_back(of_rows[i]);
  if (running.empty()) {
    schedule.seconds.assign(runs.size(), 0);
    return schedule;
  }
  const double all_s = std::accumulate(by_row.begin(), by_row.end(), 0.0);
  schedule.described = describe_predictions(running, all_s, counted) + "\n";
  if (budget_s > 0) fit(schedule, plan, by_row, budget_s);
  for (const Repetition& run : schedule.runs)
    schedule.seconds.push_back(plan[run.row].skip_reason.empty() ? of_rows[run.row].seconds : 0);
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
  console << "left out for the budget (./run_matrix --resume " << run.string() << " runs them):\n" << text;
}

}  // namespace harness
