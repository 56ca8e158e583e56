// Sorts the candidates by attempts or runs so far, and takes the first that fits into the time left.
#include "harness/plan/repeats.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <random>
#include <tuple>

#include "harness/plan/prediction.h"
#include "harness/stats/disturbance.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

struct Candidate {
  NextRun again;
  std::tuple<int64_t, double> order;
};

std::optional<NextRun> first_that_fits(std::vector<Candidate> candidates, double left_s,
                                       const std::function<double(size_t)>& run_s) {
  std::ranges::stable_sort(candidates,
                           [](const auto& one, const auto& other) { return one.order < other.order; });
  for (const Candidate& candidate : candidates)
    if (run_s(candidate.again.run.row) <= left_s) return candidate.again;
  return std::nullopt;
}

std::vector<Candidate> disturbed_runs(const std::vector<PlannedRow>& plan, const Records& records,
                                      const Attempts& attempts, int64_t most_attempts) {
  std::vector<Candidate> candidates;
  for (const Record& record : records) {
    const auto planned =
        std::ranges::find_if(plan, [&](const auto& one) { return one.row.id == record.row; });
    if (planned == plan.end() || planned->row.validation || !is_disturbed(record)) continue;
    const auto found = attempts.find({record.row, record.repeat});
    const int64_t made = found != attempts.end() ? found->second
                         : record.attempt        ? record.attempt->number
                                                 : 1;
    if (made >= most_attempts) continue;
    candidates.push_back(
        {{{size_t(planned - plan.begin()), record.repeat}, true}, {made, -disturbance_of(record)}});
  }
  return candidates;
}

std::vector<Candidate> new_repeats(const std::vector<PlannedRow>& plan, const Records& records,
                                   const RepeatRules& rules) {
  std::vector<Candidate> candidates;
  for (size_t row : rules.repeated) {
    int64_t runs = 0;
    bool good = plan[row].skip_reason.empty();
    for (const Record& record : records) {
      if (record.row != plan[row].row.id) continue;
      runs = std::max(runs, record.repeat + 1);
      good = good && is_ok(record);
    }
    if (good && runs > 0 && runs < rules.most_runs) {
      const auto seed = uint64_t(rules.seed) << 32 ^ uint64_t(runs) << 16 ^ row;
      const bool later = runs >= 2 && !rules.first.contains(plan[row].row.id);
      candidates.push_back(
          {{{row, runs}, false}, {later ? rules.most_runs + runs : runs, double(std::mt19937_64(seed)())}});
    }
  }
  return candidates;
}

}  // namespace

std::optional<NextRun> next_run(const std::vector<PlannedRow>& plan, const Records& records,
                                const Attempts& attempts, const RepeatRules& rules, double elapsed_s,
                                const std::function<double(size_t)>& run_s) {
  const double left_s = rules.limit_s - elapsed_s;
  if (const auto again =
          first_that_fits(disturbed_runs(plan, records, attempts, rules.most_attempts), left_s, run_s))
    return again;
  return first_that_fits(new_repeats(plan, records, rules), left_s, run_s);
}

std::vector<size_t> rounds_of(const RepeatRules& rules) {
  std::vector<size_t> rows;
  for (int64_t run = 1; run < rules.most_runs; ++run)
    rows.insert(rows.end(), rules.repeated.begin(), rules.repeated.end());
  return rows;
}

std::string describe(const RepeatRules& rules, const std::vector<PlannedRow>& plan) {
  std::vector<std::string> parts, ids;
  for (size_t row : rules.repeated) ids.push_back(plan[row].row.id);
  if (rules.most_runs > 1 && !ids.empty())
    parts.push_back(fmt::format("{} again, up to {} runs each", fmt::join(ids, ", "), rules.most_runs));
  if (rules.most_attempts > 1)
    parts.push_back(fmt::format("rows that are disturbed, up to {} times in all", rules.most_attempts));
  if (parts.empty() || !(rules.limit_s > 0)) return "";
  return fmt::format("until {} after the start (--repeat-within): {}\n", duration_text(rules.limit_s),
                     fmt::join(parts, "; "));
}

}  // namespace harness
