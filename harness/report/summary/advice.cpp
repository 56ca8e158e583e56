#include "harness/report/summary/advice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "harness/report/summary/feed_answer.h"
#include "harness/stats/disturbance.h"
#include "harness/stats/provenance.h"

namespace harness {
namespace {

// With another order, other images are read, and another state of the page cache is no possession.
bool is_remedy(const SummaryRow& base, const SummaryRow& row) {
  return base.config.order == row.config.order &&
         (base.config.storage != row.config.storage || base.config.cache == row.config.cache) &&
         !row.batch_differs && !row.window_differs && !is_by_construction(*base.record) &&
         !is_by_construction(*row.record);
}

// The settings in which two rows differ apart from what follows from the article's window.
std::vector<std::string> differences(const SummaryRow& one, const SummaryRow& other) {
  std::vector<std::string> names = different_settings(one.config, other.config);
  std::erase_if(names, [](const std::string& name) { return name == "window" || name == "warmup_batches"; });
  return names;
}

std::vector<std::string> changes_from(const SummaryRow& base, const SummaryRow& row) {
  std::vector<std::string> changes;
  for (const std::string& name : differences(base, row))
    if (name != "cache")  // follows from the storage
      changes.push_back(
          fmt::format("{} {} -> {}", name, field_text(base.config, name), field_text(row.config, name)));
  return changes;
}

std::optional<double> noise_between_equal_rows(const Summary& summary) {
  std::optional<double> noise;
  for (size_t i = 0; i < summary.rows.size(); ++i)
    for (size_t j = i + 1; j < summary.rows.size(); ++j) {
      const SummaryRow &one = summary.rows[i], &other = summary.rows[j];
      if (!one.ok() || !other.ok() || one.run.batches != other.run.batches) continue;
      if (!differences(one, other).empty()) continue;
      const Ratio ratio = total_ratio(summary, one, other);
      if (ratio.known()) noise = std::max(noise.value_or(0), std::exp(std::abs(std::log(ratio.value))) - 1);
    }
  return noise;
}

// With an interval all of it must be a gain; without one, the figure must be.
double surely_gained(const Ratio& gain) { return gain.decides() ? gain.low : gain.value; }

std::optional<Remedy> best_remedy(const Summary& summary, double noise) {
  std::optional<Remedy> best;
  for (const SummaryRow& row : summary.rows) {
    const SummaryRow* base = base_of(summary, row);
    if (!row.ok() || !base || !base->ok() || !row.ratio || !is_remedy(*base, row)) continue;
    const Ratio gain = total_ratio(summary, *base, row);
    if (!gain.known() || surely_gained(gain) <= 1 + noise) continue;
    if (!best || gain.value > best->gain.value) best = Remedy{base, &row, changes_from(*base, row), gain};
  }
  return best;
}

std::string names(const std::vector<std::string>& ids) {
  return fmt::format("{} {}", ids.size() == 1 ? "row" : "rows", fmt::join(ids, ", "));
}

std::vector<std::string> doubts_of(const Summary& summary, const Advice& advice) {
  std::vector<std::string> doubts, disturbed, clocked, unsteady, failed;
  double most_taken = 0, most_clock = 0;
  size_t most_runs = 0;
  for (const SummaryRow& row : summary.rows) {
    if (!row.ok()) {
      failed.push_back(row.id);
      continue;
    }
    most_runs = std::max(most_runs, row.runs.size());
    const double taken = most_taken_share(row.records);
    most_taken = std::max(most_taken, taken);
    if (taken >= kDisturbedShare) disturbed.push_back(row.id);
    const double clock = most_changed_clock(row.records);
    most_clock = std::max(most_clock, clock);
    if (clock >= kChangedClock) clocked.push_back(row.id);
    if (std::any_of(row.flags.begin(), row.flags.end(),
                    [](const Flag& flag) { return flag.code == 'D' || flag.code == 'A'; }))
      unsteady.push_back(row.id);
  }
  if (!summary.mark.empty()) doubts.push_back(summary.mark + ", not the article's hardware and sizes");
  if (most_runs == 1) doubts.push_back("one run per row, which has no interval (--repeat 2)");
  if (!disturbed.empty())
    doubts.push_back(fmt::format("others took up to {:.0f} % of the processor time of {}", 100 * most_taken,
                                 names(disturbed)));
  if (!clocked.empty())
    doubts.push_back(fmt::format("the processor's clock changed by up to {:.0f} % during {}",
                                 100 * most_clock, names(clocked)));
  if (advice.noise.value_or(0) >= kDisturbedShare)
    doubts.push_back(fmt::format("two rows that do the same work differ by {:.0f} %", 100 * *advice.noise));
  if (!unsteady.empty()) doubts.push_back("drift or few independent batches in " + names(unsteady));
  if (!failed.empty()) doubts.push_back("no figure of " + names(failed));
  return doubts;
}

const SummaryRow* slowest(const Summary& summary) {
  const SummaryRow* found = nullptr;
  for (const SummaryRow& row : summary.rows)
    if (row.ok() && (!found || row.images_per_second < found->images_per_second)) found = &row;
  return found;
}

}  // namespace

Advice advice_of(const Summary& summary) {
  Advice advice;
  advice.noise = noise_between_equal_rows(summary);
  advice.remedy = best_remedy(summary, advice.noise.value_or(0));
  advice.doubts = doubts_of(summary, advice);
  return advice;
}

std::vector<std::pair<std::string, std::string>> advice_facts(const Summary& summary) {
  const SummaryRow* const last = slowest(summary);
  if (!last || last->record->intervention || feed_answer(summary) ||
      summary.scale == "machine")
    return {};
  if (summary.scale == "smoke")
    return {{"Fix next", "scale smoke only tests the program: `--scale rehearsal` gives figures"}};
  const Advice advice = advice_of(summary);
  std::string fix, worth;
  if (advice.remedy) {
    const auto& [base, row, changes, gain] = *advice.remedy;
    fix = fmt::format("{} (row {} instead of {})", fmt::join(changes, ", "), row->id, base->id);
    worth = fmt::format("{} times as fast{}{}", text_of(gain),
                        gain.runs == 1 ? "" : fmt::format(" over {} runs of each", gain.runs),
                        gain.undisturbed ? ", without the processor time that others took" : "");
  } else {
    fix = fmt::format(
        "no change in this run made a row {}faster; `./run_matrix explain {}` measures what "
        "binds the slowest row, within 10 minutes",
        advice.noise ? fmt::format("more than {:.0f} % ", 100 * *advice.noise) : "", last->id);
    worth = "not known yet";
  }
  const std::string trust =
      advice.doubts.empty() ? "high" : fmt::format("low: {}", fmt::join(advice.doubts, "; "));
  return {{"Fix next", fix}, {"Worth", worth}, {"Trust", trust}};
}

}  // namespace harness
