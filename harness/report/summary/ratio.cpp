// Estimates on logarithms, from rounds that the rows share; few runs borrow the scatter of similar rows.
#include "harness/report/summary/ratio.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "harness/stats/provenance.h"

namespace harness {
namespace {

bool all_positive(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double value) { return value > 0 && std::isfinite(value); });
}

// The rounds in which all these rows ran, where one ran fewer than kFewestRuns times; empty: all of each.
std::set<int64_t> common_rounds(const std::vector<std::pair<const SummaryRow*, int>>& powers) {
  std::map<int64_t, size_t> rows;  // by round
  bool few = false;
  for (const auto& [row, power] : powers) {
    few = few || row->records.size() < kFewestRuns;
    for (const Record* record : row->records) ++rows[record->repeat];
  }
  std::set<int64_t> common;
  for (const auto& [round, count] : rows)
    if (few && count == powers.size()) common.insert(round);
  return common;
}

std::vector<double> of_rounds(const PerRun& figure, const SummaryRow& row, const std::set<int64_t>& rounds) {
  const std::vector<double> all = figure(row);
  if (rounds.empty() || all.size() != row.records.size()) return all;
  std::vector<double> some;
  for (size_t i = 0; i < all.size(); ++i)
    if (rounds.contains(row.records[i]->repeat)) some.push_back(all[i]);
  return some;
}

// The figure of every row that has it: what scatter is borrowed from.
Pools pools_of_all(const Summary& summary, const PerRun& figure, bool logs) {
  std::vector<Runs> all;
  for (const SummaryRow& row : summary.rows) {
    if (!row.ok()) continue;
    const std::vector<double> values = figure(row);
    if (values.size() < 2 || (logs && !all_positive(values))) continue;
    all.push_back({family_of(row.records), logs ? logarithms(values) : values});
  }
  return Pools(all);
}

}  // namespace

PerRun each_run(const std::function<std::optional<double>(const Record&, const RunStatistics&)>& figure) {
  return [figure](const SummaryRow& row) -> std::vector<double> {
    std::vector<double> values;
    for (size_t i = 0; i < row.runs.size(); ++i) {
      const auto value = figure(*row.records[i], row.runs[i]);
      if (!value) return {};
      values.push_back(*value);
    }
    return values;
  };
}

Ratio product_of(const Summary& summary, const PerRun& figure,
                 const std::vector<std::pair<const SummaryRow*, int>>& powers) {
  Ratio ratio{.value = 1, .low = 1, .high = 1, .runs = size_t(-1), .of_logs = true};
  const std::set<int64_t> rounds = common_rounds(powers);
  std::vector<Runs> logs;
  std::vector<std::vector<double>> figures;
  for (const auto& [row, power] : powers) {
    const std::vector<double> values = of_rounds(figure, *row, rounds);
    if (values.empty() || !all_positive(values)) return {};
    ratio.of_some_rounds = ratio.of_some_rounds || values.size() < row->records.size();
    const auto [least, most] = std::ranges::minmax_element(values);
    ratio.low *= std::pow(power > 0 ? *least : *most, power);
    ratio.high *= std::pow(power > 0 ? *most : *least, power);
    ratio.runs = std::min(ratio.runs, values.size());
    logs.push_back({family_of(row->records), logarithms(values)});
    figures.push_back(values);
  }
  std::vector<WeightedRuns> terms;
  for (size_t i = 0; i < logs.size(); ++i) terms.push_back({&logs[i], double(powers[i].second)});
  const Mean own = sum_of_own(terms);
  ratio.value = std::exp(own.value);
  if (ratio.runs < kFewestRuns) {
    borrow_scatter(ratio, pools_of_all(summary, figure, true), terms);
  } else if (powers.size() == 2) {
    Ratio of_two = ratio_of(unpaired_effect(figures[0], figures[1]));
    of_two.of_some_rounds = ratio.of_some_rounds;
    return of_two;
  } else {
    set_interval(ratio, own);
  }
  return ratio;
}

Ratio ratio_of(const Summary& summary, const PerRun& figure, const SummaryRow& base, const SummaryRow& row) {
  return product_of(summary, figure, {{&base, 1}, {&row, -1}});
}

Ratio share_of(const Summary& summary, const PerRun& share, const SummaryRow& row) {
  const std::vector<double> shares = share(row);
  if (shares.empty()) return {};
  const Location location = location_of(shares);
  Ratio ratio{location.value, location.low, location.high, location.runs, location.mean};
  const Runs runs{family_of(row.records), shares};
  if (ratio.runs < kFewestRuns) borrow_scatter(ratio, pools_of_all(summary, share, false), {{&runs, 1}});
  return ratio;
}

ComparedSeconds compared_seconds(const std::vector<const SummaryRow*>& rows) {
  RecordList records;
  for (const SummaryRow* row : rows) records.insert(records.end(), row->records.begin(), row->records.end());
  return {records, {}};
}

PerRun seconds_for(const std::vector<const SummaryRow*>& rows) {
  return [seconds = compared_seconds(rows)](const SummaryRow& row) -> std::vector<double> {
    for (const Record* record : row.records)
      if (!has_comparable_rate(*record)) return {};
    return seconds.of(row.records);
  };
}

Ratio total_ratio(const Summary& summary, const SummaryRow& base, const SummaryRow& row) {
  Ratio ratio = ratio_of(summary, seconds_for({&base, &row}), base, row);
  ratio.undisturbed = ComparedSeconds(base.records, row.records).undisturbed();
  return ratio;
}

PerRun ms_in(const std::vector<std::string>& phases) {
  return each_run(
      [phases](const Record&, const RunStatistics& run) { return std::optional(phases_ms(run, phases)); });
}

double phases_ms(const RunStatistics& run, const std::vector<std::string>& phases) {
  double sum = 0;
  for (const PhaseStatistics& phase : run.phases)
    if (std::ranges::find(phases, phase.name) != phases.end()) sum += phase.mean_ms;
  return sum;
}

std::string text_of(const Ratio& ratio) {
  const std::string value = fmt::format("{:.2f}", ratio.value);
  if (ratio.runs == 1 && !ratio.pooled) return value;
  if (fmt::format("{:.2f}", ratio.low) == value && fmt::format("{:.2f}", ratio.high) == value)
    return fmt::format("{} (±{:.1g} %){}", value,
                       100 * std::max(ratio.high / ratio.value - 1, 1 - ratio.low / ratio.value),
                       ratio.pooled ? " pooled" : "");
  return fmt::format("{:.2f} ({:.2f} to {:.2f}){}", ratio.value, ratio.low, ratio.high,
                     ratio.pooled ? " pooled" : "");
}

}  // namespace harness
