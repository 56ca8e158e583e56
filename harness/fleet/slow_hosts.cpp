// Combines the figures of each host into parts, and tests hosts, then groups with a common label.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "harness/contract/phases.h"
#include "harness/experiment/outlier.h"
#include "harness/experiment/policy/policy.h"
#include "harness/fleet/fleet_night.h"
#include "harness/report/metrics.h"
#include "harness/stats/statistics.h"

namespace harness {
namespace {

constexpr const char* kWhole = "whole";

// What a figure tells about; the seconds of a row tell about all of it.
std::string part_of(const FleetSeries& series) {
  static const std::map<std::string, StepPart> of_canaries = {{"gemm_ms", StepPart::computing},
                                                              {"memcpy_ms", StepPart::copying},
                                                              {"decode_ms", StepPart::loading},
                                                              {"all_reduce_ms", StepPart::link}};
  if (series.kind == "metric") return kWhole;
  StepPart part = StepPart::other;
  if (series.kind == "canary") {
    if (const auto canary = of_canaries.find(series.row); canary != of_canaries.end()) part = canary->second;
  } else if (const auto phase = std::ranges::find(kPhaseNames, series.name); phase != kPhaseNames.end()) {
    part = harness::part_of(Phase(phase - kPhaseNames.begin()));
  }
  return std::string(kStepPartNames[size_t(part)]);
}

// Of the metrics only seconds count: the others follow from them and from the phases.
bool counts(const FleetSeries& series) { return series.kind != "metric" || series.name == "total_s"; }

// One part of the hosts of one hardware, asked against the fleet or against the hosts' past.
struct PartOfHosts {
  std::string part;
  bool of_past = false;
  std::map<size_t, double> levels;  // by host: combined logarithm, above 0: slower
  Others others;                    // the hosts
};

using Weighted =
    std::map<size_t, std::pair<double, double>>;  // by host: sum of weighted values, and of weights

void add_series(Weighted& sums, const std::vector<std::pair<size_t, double>>& logs) {
  if (logs.size() < kFewestHosts) return;
  std::vector<double> values;
  for (const auto& [host, value] : logs) values.push_back(value);
  const double middle = median(values), scale = std::max(robust_deviation(values), kLeastScatter);
  for (const auto& [host, value] : logs) {
    auto& [sum, weight] = sums[host];
    sum += (value - middle) / (scale * scale);
    weight += 1 / (scale * scale);
  }
}

std::vector<PartOfHosts> parts_of(const FleetNight& night, const std::string& hardware) {
  std::vector<std::vector<const FleetFigure*>> by_series(night.series.size());
  for (const FleetFigure& figure : night.figures)
    if (night.series[figure.series].hardware == hardware) by_series[figure.series].push_back(&figure);
  std::map<std::pair<std::string, bool>, Weighted> sums;
  for (size_t i = 0; i < by_series.size(); ++i) {
    const FleetSeries& series = night.series[i];
    if (by_series[i].empty() || !counts(series)) continue;
    std::vector<std::pair<size_t, double>> against_fleet, against_past;
    for (const FleetFigure* figure : by_series[i]) {
      const double level = std::log(figure->value / series.median);
      against_fleet.push_back({figure->host, level});
      if (figure->past_nights >= kFewestPastNights && figure->past_ratio > 0)
        against_past.push_back({figure->host, level - std::log(figure->past_ratio)});
    }
    add_series(sums[{part_of(series), false}], against_fleet);
    add_series(sums[{part_of(series), true}], against_past);
  }
  std::vector<PartOfHosts> parts;
  for (const auto& [key, hosts] : sums) {
    PartOfHosts part{key.first, key.second, {}, {}};
    std::vector<double> levels;
    for (const auto& [host, sum] : hosts) levels.push_back(part.levels[host] = sum.first / sum.second);
    if (levels.size() < kFewestHosts) continue;
    part.others = mostly_good(levels);
    parts.push_back(std::move(part));
  }
  return parts;
}

SlowPart slow_part(const PartOfHosts& of, double level, double hosts) {
  const double reach = of.others.reach(hosts);
  return {of.part,
          of.of_past,
          std::exp(level),
          std::exp(level - reach),
          std::exp(level + reach),
          of.others.p_slower(level, hosts)};
}

std::vector<SlowGroup> groups_in(const FleetNight& night, const std::vector<PartOfHosts>& parts) {
  std::vector<SlowGroup> all;
  for (const PartOfHosts& part : parts) {
    std::map<std::pair<std::string, std::string>, std::vector<double>> levels;
    for (const auto& [host, level] : part.levels)
      for (const auto& label : night.hosts[host].labels) levels[label].push_back(level);
    for (auto& [label, values] : levels) {
      if (values.size() < kFewestReferences || values.size() * 2 > part.levels.size()) continue;
      // The median, so that one host that is very slow doesn't make its group slow; its error is larger
      // by 1.2533.
      const double hosts = double(values.size()) / (1.2533 * 1.2533);
      all.push_back({label.first, label.second, values.size(), slow_part(part, median(values), hosts)});
    }
  }
  return all;
}

bool is_slow(const SlowPart& part, double largest_p) {
  return part.p <= largest_p && part.ratio >= 1 + kLeastSlowness;
}

// The level of the group that explains the part of a host; 0: none does.
double explained_by(const std::vector<SlowGroup>& groups, const FleetHost& host, const PartOfHosts& part) {
  double level = 0;
  for (const SlowGroup& group : groups)
    if (group.part.part == part.part && group.part.of_past == part.of_past)
      if (const auto label = host.labels.find(group.label);
          label != host.labels.end() && label->second == group.value)
        level = std::max(level, std::log(group.part.ratio));
  return level;
}

// The slower answer to both questions, the slowest part first. The seconds of rows only say that something is
// slow, where a part says what.
void keep_what_says_most(std::vector<SlowPart>& parts) {
  std::ranges::sort(parts, std::ranges::greater(), &SlowPart::ratio);
  std::set<std::string> seen;
  std::erase_if(parts, [&](const SlowPart& part) { return !seen.insert(part.part).second; });
  if (parts.size() > 1) std::erase_if(parts, [](const SlowPart& part) { return part.part == kWhole; });
}

std::vector<SlowGroup> what_says_most(std::vector<SlowGroup> groups) {
  std::map<std::pair<std::string, std::string>, std::pair<size_t, std::vector<SlowPart>>> by_label;
  for (const SlowGroup& group : groups) {
    auto& [hosts, parts] = by_label[{group.label, group.value}];
    hosts = group.hosts;
    parts.push_back(group.part);
  }
  groups.clear();
  for (auto& [label, found] : by_label) {
    keep_what_says_most(found.second);
    for (const SlowPart& part : found.second)
      groups.push_back({label.first, label.second, found.first, part});
  }
  std::ranges::stable_sort(
      groups, [](const SlowGroup& a, const SlowGroup& b) { return a.part.ratio > b.part.ratio; });
  return groups;
}

}  // namespace

FleetVerdict judge_fleet(const FleetNight& night) {
  FleetVerdict verdict;
  verdict.levels.resize(night.hosts.size());
  std::map<std::string, size_t> of_hardware;
  for (const FleetHost& host : night.hosts) ++of_hardware[host.hardware];
  std::vector<PartOfHosts> parts;
  for (const auto& [hardware, hosts] : of_hardware)
    if (hosts < kFewestHosts)
      verdict.remarks.push_back(fmt::format("{} host{} of {}: not judged, {} of the same hardware are needed",
                                            hosts, hosts == 1 ? "" : "s", hardware, kFewestHosts));
    else
      for (PartOfHosts& part : parts_of(night, hardware)) parts.push_back(std::move(part));

  std::vector<SlowGroup> groups = groups_in(night, parts);
  std::vector<double> p;
  for (const SlowGroup& group : groups) p.push_back(group.part.p);
  const double largest_of_groups = largest_discovery(p, kFalseHosts);
  std::erase_if(groups, [&](const SlowGroup& group) { return !is_slow(group.part, largest_of_groups); });

  p.clear();
  for (const PartOfHosts& part : parts)
    for (const auto& [host, level] : part.levels) p.push_back(part.others.p_slower(level));
  const double largest = largest_discovery(p, kFalseHosts);
  std::map<size_t, SlowHost> slow;
  for (const PartOfHosts& part : parts)
    for (const auto& [host, level] : part.levels) {
      if (!part.of_past) verdict.levels[host][part.part] = level;
      const double beyond = level - explained_by(groups, night.hosts[host], part);
      if (!is_slow(slow_part(part, beyond, 1), largest)) continue;
      slow[host].host = host;
      slow[host].parts.push_back(slow_part(part, level, 1));
    }
  // A host that is judged against its past is judged against others, too.
  verdict.judged = size_t(std::ranges::count_if(verdict.levels, [](const auto& of) { return !of.empty(); }));
  for (auto& [host, it] : slow) {
    keep_what_says_most(it.parts);
    if (const auto whole = verdict.levels[host].find(kWhole); whole != verdict.levels[host].end())
      it.cost = std::exp(whole->second) - 1;
    verdict.hosts.push_back(std::move(it));
  }
  std::ranges::stable_sort(verdict.hosts, std::ranges::greater(), &SlowHost::cost);
  verdict.groups = what_says_most(std::move(groups));
  return verdict;
}

}  // namespace harness
