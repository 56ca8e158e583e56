// The quantities that claims are about, each computed from every run of a row.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/report/claim_question.h"
#include "harness/report/metrics.h"
#include "harness/report/summary/device_time.h"
#include "harness/stats/provenance.h"
#include "harness/stats/records.h"
#include "harness/stats/statistics.h"

namespace harness {
namespace {

using Value = std::optional<double>;

// The sum of a batch's phases.
Value step_ms(const RunStatistics& run) {
  double sum = 0;
  for (const PhaseStatistics& phase : run.phases) sum += phase.mean_ms;
  return sum > 0 ? Value(sum) : std::nullopt;
}

// From device time on a GPU, otherwise from the training thread's time.
Value work_ms(const Record& record, const RunStatistics& run, const QuantityOf& of) {
  return record.device.kind == "cpu" ? phases_ms(run, of.phases) : device_ms(record, of.phases);
}

Value work_share(const Record& record, const RunStatistics& run, const QuantityOf& of) {
  const Value ms = work_ms(record, run, of), step = step_ms(run);
  return ms && step ? Value(*ms / *step) : std::nullopt;
}

Value share_of_waiting(const Record&, const RunStatistics& run, const QuantityOf&) {
  const Value step = step_ms(run);
  return step ? Value(std::max(phases_ms(run, {"load"}) / *step, kLeastShare)) : std::nullopt;
}

// The wait for batches or, if the record has the step's time without a loader and this is more, the time that
// loading adds.
Value loading_share(const Record& record, const RunStatistics& run, const QuantityOf&) {
  if (!run.has_samples || run.mean_ms <= 0) return std::nullopt;
  const double alone = record.ceilings.value_or(RecordCeilings()).compute_ms.value_or(run.mean_ms);
  return std::max(phases_ms(run, {"load"}) / run.mean_ms, 1 - alone / run.mean_ms);
}

// From a trace of kernels (--trace) or NVML's readings: a phase's device time also contains the gaps between
// kernels. From `first_batch` on only a trace of later batches tells. The kernels of an emulated device have
// no gaps, and its batches differ by their waits alone. Mean over ranks.
Value kernel_share(const Record& record, const RunStatistics& run, const QuantityOf& of) {
  if (on_emulated_device(record)) {
    const Value ms = device_ms(record, phases_of(StepPart::computing));
    return ms && run.mean_ms > 0 ? Value(*ms / run.mean_ms) : std::nullopt;
  }
  double sum = 0;
  if (record.trace && !record.trace->ranks.empty() &&
      (of.first_batch == 0 || record.trace->first.value_or(0) >= of.first_batch)) {
    for (const RankTrace& rank : record.trace->ranks) sum += rank.gpu_kernel_share;
    return sum / double(record.trace->ranks.size());
  }
  if (of.first_batch > 0 || record.gpu.empty()) return std::nullopt;  // NVML's mean is of the whole window
  for (const RankGpu& rank : record.gpu) {
    if (!rank.utilisation_percent) return std::nullopt;
    sum += rank.utilisation_percent->mean / 100;
  }
  return sum / double(record.gpu.size());
}

Value processor_share(const Record& record, const RunStatistics&, const QuantityOf&) {
  return record.environment.window_busy_share;
}

// Mean over batches of the time with a collective under way.
Value communication_spread(const Record& record, const RunStatistics&, const QuantityOf&) {
  const auto found = record.spans_ms.find("communication");
  if (found == record.spans_ms.end() || found->second.size() < 2) return std::nullopt;
  const std::vector<std::vector<double>>& by_rank = found->second;
  double spread = 0, mean = 0;
  for (size_t batch = 0; batch < by_rank[0].size(); ++batch) {
    double low = kNoLimit, high = 0;
    for (const std::vector<double>& rank : by_rank) {
      if (batch >= rank.size()) return std::nullopt;
      low = std::min(low, rank[batch]);
      high = std::max(high, rank[batch]);
      mean += rank[batch] / double(by_rank.size());
    }
    spread += high - low;
  }
  return mean > 0 ? Value(spread / mean) : std::nullopt;
}

// Of a record with several SyncBN layers of which others wait than the first.
std::optional<Communication> sync_bn_of(const Record& record) {
  auto it = communication_of(record);
  if (!it || it->sync_bn.size() < 2 ||
      it->sync_bn_ms() <= it->sync_bn_backward_ms + it->sync_bn.front().wait_ms)
    return std::nullopt;
  return it;
}

Value sync_bn_later_share(const Record& record, const RunStatistics& run, const QuantityOf&) {
  const auto it = sync_bn_of(record);
  if (!it || run.mean_ms <= 0) return std::nullopt;
  return (it->sync_bn_ms() - it->sync_bn.front().wait_ms) / run.mean_ms;
}

Value sync_bn_first_wait(const Record& record, const RunStatistics&, const QuantityOf&) {
  const auto it = sync_bn_of(record);
  if (!it) return std::nullopt;
  const double first = it->sync_bn.front().wait_ms;
  return first * double(it->sync_bn.size() - 1) / (it->sync_bn_ms() - it->sync_bn_backward_ms - first);
}

// Of the time that the second row gains on the first, the share by which it waits less for images. The
// interval is the range over all pairs of runs.
Ratio gain_from_waiting(const SummaryRow& before, const SummaryRow& after) {
  std::vector<double> shares;
  for (const RunStatistics& slow : before.runs)
    for (const RunStatistics& fast : after.runs) {
      const double gain = slow.mean_ms - fast.mean_ms;
      if (gain <= 0)
        return {.why_range = fmt::format("{} is not faster than {} in every pair of runs",
                                         bracketed(after.id), bracketed(before.id))};
      shares.push_back((phases_ms(slow, {"load"}) - phases_ms(fast, {"load"})) / gain);
    }
  if (shares.empty()) return {};
  const auto [low, high] = std::ranges::minmax_element(shares);
  return {median(shares), *low, *high, std::min(before.runs.size(), after.runs.size())};
}

// The metric of each run, as that of a row with this run alone, which took the compared seconds. None of a
// row that was traced on a GPU: they are times, and the profiler's is part of them.
std::vector<double> of_each_run(const Metric& metric, const ComparedSeconds& seconds, const SummaryRow& row) {
  std::vector<double> values;
  SummaryRow one = row;
  for (size_t i = 0; i < row.runs.size(); ++i) {
    one.run = row.runs[i];
    one.record = row.records[i];
    if (!has_comparable_rate(*one.record)) return {};
    one.total_s = one.run.total_s * seconds.share_left(*one.record);
    one.images_per_second = one.run.images_per_second / seconds.share_left(*one.record);
    one.communication = communication_of(*one.record);
    const Value value = metric.figure(one);
    if (!value) return {};
    values.push_back(*value);
  }
  return values;
}

PerRun per_run(const Quantity& quantity, const QuantityOf& of, const std::vector<const SummaryRow*>& rows) {
  if (quantity.metric)
    return [metric = quantity.metric, seconds = compared_seconds(rows)](const SummaryRow& row) {
      return of_each_run(*metric, seconds, row);
    };
  return each_run([figure = quantity.of_run, of](const Record& record, const RunStatistics& run) {
    return figure(record, run, of);
  });
}

}  // namespace

const std::map<std::string, Quantity>& quantities() {
  using Takes = Quantity::Takes;
  static const std::map<std::string, Quantity> all = [] {
    std::map<std::string, Quantity> list = {
        {"seconds", {"time of", "s"}},
        {"work_ms", {.unit = "ms", .of_run = work_ms, .takes = Takes::phases}},
        {"work_share", {.unit = "%", .of_run = work_share, .takes = Takes::phases}},
        {"wait_share", {"share of the step spent waiting for images", "%", share_of_waiting}},
        {"loading_share", {"cost of loading, share of the step", "%", loading_share}},
        {"kernel_share",
         {.meaning = "kernel time / time, from --trace, NVML or the emulated device",
          .unit = "%",
          .of_run = kernel_share,
          .takes = Takes::first_batch}},
        {"processor_share",
         {"share of the time of the row's cores in which they ran something", "%", processor_share}},
        {"communication_spread", {"collectives, (slowest - fastest rank) / mean", "%", communication_spread}},
        {"sync_bn_later_share",
         {"waits after the first SyncBN layer, in forward and in backward, / step", "%",
          sync_bn_later_share}},
        {"sync_bn_first_wait",
         {"wait in the first SyncBN layer / mean wait of the layers after it", "", sync_bn_first_wait}},
        {"gain_from_waiting",
         {.meaning = "share of the gain from waiting less for images",
          .unit = "%",
          .of_two = gain_from_waiting,
          .takes = Takes::two_rows}},
    };
    for (const Metric& metric : metrics())
      if (metric.better)
        list.emplace(metric.name, Quantity{.meaning = metric.name, .unit = metric.unit, .metric = &metric});
    return list;
  }();
  return all;
}

Ratio figure_of(const Quantity& quantity, const QuantityOf& of, const ClaimRows& rows) {
  std::vector<const SummaryRow*> all;
  std::vector<std::pair<const SummaryRow*, int>> powers;
  for (const auto& [id, power] : of.rows) {
    all.push_back(&rows[id]);
    powers.emplace_back(&rows[id], power);
  }
  if (quantity.of_two) return quantity.of_two(*all.at(0), *all.at(1));
  const PerRun figure = quantity.of_run || quantity.metric ? per_run(quantity, of, all) : seconds_for(all);
  return all.size() == 1 ? share_of(rows.summary, figure, *all[0]) : product_of(rows.summary, figure, powers);
}

std::string description_of(const Quantity& quantity, const QuantityOf& of) {
  std::string text = of.phases.empty() ? quantity.meaning : fmt::format("{}", fmt::join(of.phases, " and "));
  if (of.first_batch > 0) text += fmt::format(", from batch {} on", of.first_batch);
  if (of.rows.size() < 2) return text;
  return fmt::format("{}{} {} / {}", text, text.ends_with(" of") ? "" : ",", bracketed(of.rows[0].first),
                     bracketed(of.rows[1].first));
}

Ratio wait_share(const ClaimRows& rows, const std::string& id) {
  return figure_of(quantities().at("wait_share"), {.rows = {{id, 1}}}, rows);
}

}  // namespace harness
