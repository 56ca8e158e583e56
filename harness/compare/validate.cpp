// Compares each rank's median loading, copying and computing times with those of the references' ranks.
#include "harness/compare/validate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "harness/experiment/outlier.h"
#include "harness/experiment/policy/policy.h"
#include "harness/report/summary/device_time.h"
#include "harness/stats/provenance.h"
#include "harness/stats/records.h"
#include "harness/stats/statistics.h"

namespace harness {
namespace {

// Median over the batches of the time that each rank spent in some phases: of its device where that has
// times of its own, because its host also waits for the other ranks.
std::vector<double> by_rank(const Record& record, const std::vector<std::string>& phases) {
  const Samples& samples = has_device_times(record, phases.front()) ? record.device_ms : record.samples_ms;
  std::vector<double> medians;
  if (samples.empty()) return medians;
  for (size_t rank = 0; rank < samples.begin()->second.size(); ++rank) {
    std::vector<double> batches(samples.begin()->second[rank].size(), 0.0);
    for (const std::string& phase : phases)
      if (const auto found = samples.find(phase); found != samples.end())
        for (size_t i = 0; i < batches.size(); ++i) batches[i] += found->second[rank][i];
    std::erase_if(batches, [](double ms) { return std::isnan(ms); });
    medians.push_back(median(batches));
  }
  return medians;
}

RecordList runs_of_row(const Records& records, const Record& like) {
  RecordList runs;
  for (const Record& record : records)
    if (record.status == "OK" && record.row == like.row && incomparable(like, record).empty() &&
        record.world_size == like.world_size)
      runs.push_back(&record);
  return runs;
}

// Median over the repeats of each rank's time.
std::vector<double> typical_by_rank(const RecordList& runs, StepPart part) {
  std::vector<std::vector<double>> repeats;
  for (const Record* run : runs) repeats.push_back(by_rank(*run, phases_of(part)));
  std::vector<double> typical;
  for (size_t rank = 0; !repeats.empty() && rank < repeats.front().size(); ++rank) {
    std::vector<double> values;
    for (const auto& repeat : repeats)
      if (rank < repeat.size()) values.push_back(repeat[rank]);
    typical.push_back(median(values));
  }
  return typical;
}

std::string node_of(const Record& record, size_t rank) {
  for (const RankPlace& place : record.rank_map)
    if (place.rank == int64_t(rank)) return fmt::format("node {} ({})", place.node, place.host);
  return "node unknown";
}

void check_row(const RecordList& runs, const std::vector<Records>& references, Validation& validation) {
  const Record& record = *runs.front();
  const std::string row = record.row;
  double step = 0;
  for (const std::string& phase : phase_names()) step += median(by_rank(record, {phase}));
  if (!(step > 0)) return;  // times of zero have no logarithm
  const double smallest_ms = kSmallPart * step;
  const auto logarithm = [&](double ms) { return std::log(std::max(ms, smallest_ms)); };
  for (const StepPart part : {StepPart::loading, StepPart::copying, StepPart::computing}) {
    std::vector<std::vector<double>> good;
    size_t ranks = 0;
    for (const auto& reference : references) {
      std::vector<double> run = typical_by_rank(runs_of_row(reference, record), part);
      std::ranges::transform(run, run.begin(), logarithm);
      ranks += run.size();
      if (!run.empty()) good.push_back(std::move(run));
    }
    if (ranks < kFewestReferences) {
      validation.remarks.push_back(fmt::format(
          "row {}: only {} ranks in the references did the same work, {} are needed: name more runs", row,
          ranks, kFewestReferences));
      return;
    }
    const Others others = known_good(good);
    if (others.middle <= std::log(smallest_ms)) continue;
    const double reach = others.reach();
    const std::vector<double> here = typical_by_rank(runs, part);
    for (size_t rank = 0; rank < here.size(); ++rank)
      validation.checks.push_back({row, std::string(kStepPartNames[size_t(part)]), int64_t(rank),
                                   node_of(record, rank), here[rank], std::exp(others.middle),
                                   std::exp(others.middle - reach), std::exp(others.middle + reach),
                                   others.p_slower(logarithm(here[rank]) - others.middle)});
  }
}

void mark_the_odd(std::vector<RankCheck>& checks) {
  std::vector<double> p;
  for (const RankCheck& check : checks) p.push_back(check.p);
  const double largest = largest_discovery(p, kFalseRanks);
  for (RankCheck& check : checks) check.odd = check.p <= largest && check.deviation() > kFloor;
}

// If all ranks of a node are odd in the same part, reports the node instead of each rank.
void name_the_odd(Validation& validation) {
  std::map<std::tuple<std::string, std::string, std::string>,
           std::pair<std::vector<const RankCheck*>, size_t>>
      nodes;
  for (const RankCheck& check : validation.checks) {
    auto& [odd, all] = nodes[{check.row, check.part, check.node}];
    ++all;
    if (check.odd) odd.push_back(&check);
  }
  for (const auto& [place, found] : nodes) {
    const auto& [row, part, node] = place;
    const auto& [odd, all] = found;
    if (odd.size() == all && all > 1) {
      double least = odd.front()->deviation();
      for (const RankCheck* check : odd) least = std::min(least, check->deviation());
      validation.odd.push_back(
          fmt::format("{}: all {} ranks, {} at least {:+.0f} % (row {})", node, all, part, 100 * least, row));
    } else {
      for (const RankCheck* check : odd)
        validation.odd.push_back(fmt::format("rank {} on {}: {} {:+.0f} % (row {})", check->rank, node, part,
                                             100 * check->deviation(), row));
    }
  }
}

}  // namespace

static std::set<std::string> kinds_of_machine(const std::vector<Records>& runs) {
  std::set<std::string> kinds;
  for (const Records& records : runs)
    for (const Record& record : records)
      if (record.status == "OK") kinds.insert(machine_fingerprint(record));
  return kinds;
}

Validation validate(const Records& run, const std::vector<Records>& references) {
  Validation validation;
  for (const auto& [row, runs] : by_row(pointers_to(run))) {
    const auto first = std::ranges::find_if(runs, [](const Record* one) { return one->status != "SKIPPED"; });
    if (first == runs.end()) continue;
    const Record& record = **first;
    if (record.status != "OK")
      validation.odd.push_back(fmt::format("row {} is {}: {}", row, record.status, record.reason));
    else if (record.samples_ms.empty())
      validation.remarks.push_back(fmt::format("row {}: ran without phase clock, nothing to check", row));
    else
      check_row(runs_of_row(run, record), references, validation);
  }
  mark_the_odd(validation.checks);
  name_the_odd(validation);
  const std::set<std::string> here = kinds_of_machine({run}), there = kinds_of_machine(references);
  if (here != there && !here.empty() && !there.empty())
    validation.remarks.push_back(
        fmt::format("different machines: the run's is {}, the references' {}; what differs may be the "
                    "machine and no fault",
                    fmt::join(here, " and "), fmt::join(there, " and ")));
  return validation;
}

Grid validation_grid(const Validation& validation) {
  Grid grid;
  grid.title = "each rank's own work against the references";
  grid.columns = {{"row", true},    {"part", true}, {"rank"},  {"node", true, true}, {"ms"}, {"good ranks"},
                  {"95 % of them"}, {"differs"},    {"", true}};
  for (const RankCheck& it : validation.checks)
    grid.rows.push_back({it.row, it.part, std::to_string(it.rank), it.node, fmt::format("{:.2f}", it.ms),
                         fmt::format("{:.2f}", it.good_ms),
                         fmt::format("{:.2f} to {:.2f}", it.low_ms, it.high_ms),
                         fmt::format("{:+.1f} %", 100 * it.deviation()), it.odd ? "ODD" : ""});
  grid.notes = {fmt::format(
      "Medians over batches and repeats; of good ranks the geometric mean. Odd: slower than it by more than "
      "{:.0f} % and by more than good ranks scatter; of the ranks that are called odd {:.0f} % are so by chance "
      "(false discovery rate over all lines). Waits for other ranks are not included.",
      100 * kFloor, 100 * kFalseRanks)};
  for (const std::string& remark : validation.remarks) grid.notes.push_back(remark);
  return grid;
}

}  // namespace harness
