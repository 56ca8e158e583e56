// The table of what each row waits for, with its ceilings and what to try.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "harness/report/bottleneck.h"
#include "harness/report/bottleneck_of_device.h"

namespace harness {
namespace {

std::string rate_text(const std::optional<double>& rate, const std::optional<Interval>& range) {
  if (!rate) return "-";
  if (!range) return fmt::format("{:.0f}", *rate);
  return fmt::format("{:.0f} ±{:.0f} %", *rate,
                     100 * std::max(range->high / *rate - 1, 1 - range->low / *rate));
}

// A ceiling whose whole interval lies below its row was disturbed: no part alone is slower than all of them.
std::string headroom_text(const Bottleneck& found) {
  if (!found.headroom) return "-";
  const Ceilings& ceilings = found.ceilings;
  const auto& range = *ceilings.loader < *ceilings.compute ? ceilings.loader_range : ceilings.compute_range;
  if (range && range->low <= found.images_per_second && found.images_per_second <= range->high)
    return "about 0";
  return *found.headroom < 0 ? "ceiling < row" : fmt::format("{:+.0f} %", 100 * *found.headroom);
}

bool is_computing(const Bottleneck& found) { return found.verdict == "device" || found.verdict == "kernels"; }

// Whether some of these rows were measured against their base, and all of them were slower.
bool only_slower(const Summary& summary, const std::function<bool(const SummaryRow&)>& is_one) {
  bool any = false;
  for (const SummaryRow& row : summary.rows) {
    if (!row.ok() || !row.ratio || !is_one(row)) continue;
    if (*row.ratio >= 1) return false;
    any = true;
  }
  return any;
}

bool changes_precision(const SummaryRow& row) { return row.group == "precision"; }

// Remedies for a row that computes most of the time, without those that this run has shown to be none.
std::string device_remedies(const Summary& summary) {
  const auto has_more_devices = [&](const SummaryRow& row) {
    const SummaryRow* base = base_of(summary, row);
    return base && all_devices(row.config) > all_devices(base->config);
  };
  std::string text = only_slower(summary, changes_precision) ? "" : "precision=o2 or bf16, ";
  text += "a faster device";
  return only_slower(summary, has_more_devices) ? text : text + ", or more of them";
}

}  // namespace

Grid bottleneck_grid(const Summary& summary) {
  Grid grid;
  grid.title = "what each row waits for";
  grid.columns = {{"row", true}, {"bottleneck", true}, {"img/s"},    {"loader"},
                  {"compute"},   {"all-reduce"},       {"headroom"}, {"because", true, false, 44}};
  std::vector<std::string> next_steps;
  for (const SummaryRow& row : summary.rows) {
    const auto found = bottleneck_of(row);
    if (!found) continue;
    size_t agree = 0;
    for (size_t i = 0; i < row.runs.size(); ++i)
      if (const auto one = bottleneck_of(*row.records[i], row.runs[i]))
        agree += one->verdict == found->verdict;
    const std::string count = agree < row.runs.size() ? fmt::format(" ({}/{})", agree, row.runs.size()) : "";
    grid.rows.push_back({row.id, found->verdict + count, fmt::format("{:.0f}", found->images_per_second),
                         rate_text(found->ceilings.loader, found->ceilings.loader_range),
                         rate_text(found->ceilings.compute, found->ceilings.compute_range),
                         rate_text(found->ceilings.all_reduce, {}), headroom_text(*found),
                         found->cause.empty() ? found->figure : found->cause + ": " + found->figure});
    const std::string step =
        fmt::format("{}{}: try {}", found->verdict, found->cause.empty() ? "" : " (" + found->cause + ")",
                    is_computing(*found) ? device_remedies(summary) : found->next);
    if (std::find(next_steps.begin(), next_steps.end(), step) == next_steps.end()) next_steps.push_back(step);
  }
  const auto percent = [](double share) { return fmt::format("{:.0f} %", 100 * share); };
  grid.notes = {
      "loader, compute, all-reduce: images/s of the loader alone, of the step on a made-up batch alone, and "
      "of the all-reduces alone, each with half its 95 % interval over the ceiling's batches, `-` where that "
      "is "
      "wider than the figure; headroom: from "
      "the row's images/s to the lower of loader and compute, `about 0` where the interval covers the row; "
      "`ceiling < row`: disturbed, no limit of this row. These are verdicts by phases, which say where a row "
      "waits. `./run_matrix explain ROW` measures what each remedy gains.",
      fmt::format(
          "The verdict is the first that applies: load, copies or exposed communication from {} of the step "
          "on, launches from {} (the host takes {} of the device's computing time or more for launching it), "
          "computing (kernels) from {}, the host's own work and cores shared with the loader from {}; "
          "otherwise other. Of devices with times of their own, these are used; means over ranks, and causes "
          "of waiting from the critical path: the rank for which the others waited. (n/m): n of m repeats "
          "have this verdict.",
          percent(kHighShare), percent(kHighShare), percent(DeviceSteps::kLaunchBound), percent(kBusyShare),
          percent(kHighShare))};
  grid.notes.insert(grid.notes.end(), next_steps.begin(), next_steps.end());
  return grid;
}

}  // namespace harness
