// Notes the first reason that speaks against each row, and interleaves the repeats of all rows.
#include "harness/plan/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/config/row_traits.h"
#include "harness/plan/instruments.h"
#include "harness/plan/resources.h"

namespace harness {

// Skipped instead of refused, so that a matrix with such a row runs on every device.
static std::string why_without_effect(const Row& row, const AxisValues& values) {
  if (row.needless == "empty_cache" && !computes(row.device, values))
    return fmt::format("memory of device {} has no cache to empty", row.device);
  return "";
}

static std::string why_missing(const Row& row, const AxisValues& values) {
  for (const Field& field : fields()) {
    if (!field.axis) continue;
    const AxisValue* value = find_value(values, field.axis, field_text(row, field.name));
    if (value && !value->missing.empty()) return value->missing;
  }
  const int64_t share = (row.batch + row.devices - 1) / row.devices;
  if (!trait(values, "strategy", row.strategy, &Traits::process_per_device, false) &&
      share * (row.devices - 1) >= row.batch)
    return fmt::format("{} images over {} devices in shares of {} leave a device without images", row.batch,
                       row.devices, share);
  return "";
}

std::vector<PlannedRow> make_plan(const std::vector<Row>& rows, const AxisValues& values,
                                  const Request& request, const WhyNotStarted& why_not_started,
                                  int64_t cores) {
  std::vector<PlannedRow> plan;
  for (const Row& row : rows) {
    PlannedRow planned{row, row.skip, {}};
    if (planned.skip_reason.empty()) planned.skip_reason = why_missing(row, values);
    if (planned.skip_reason.empty()) planned.skip_reason = why_without_effect(row, values);
    if (planned.skip_reason.empty()) planned.skip_reason = why_not_without_gpu(row, values);
    if (planned.skip_reason.empty()) planned.skip_reason = why_too_few_gpus(row, values, request);
    if (planned.skip_reason.empty()) planned.skip_reason = why_not_started(row);
    if (emulates_nodes(row, launcher_of(request)))
      planned.notes.push_back(fmt::format("{} nodes share the cores of this machine", row.nodes));
    if (const auto batches = traced_batches(request, row)) planned.notes.push_back(describe(*batches));
    if (!request.wrap.empty()) planned.notes.push_back(describe_wrap(request));
    if (const std::string note = give_cores(planned.row, cores, request); !note.empty())
      planned.notes.push_back(note);
    plan.push_back(std::move(planned));
  }
  return plan;
}

std::vector<Repetition> all_runs(const std::vector<PlannedRow>& plan, const Request& request) {
  std::vector<Repetition> runs;
  for (size_t row = 0; row < plan.size(); ++row)
    for (int64_t repeat = 0; repeat < repeats_of(plan[row].row, request); ++repeat)
      runs.push_back({row, repeat});
  std::ranges::stable_sort(runs, {}, &Repetition::repeat);
  return runs;
}

std::string describe_plan(const std::vector<PlannedRow>& plan, const Scale& scale) {
  const auto skipped = std::ranges::count_if(plan, [](const auto& p) { return !p.skip_reason.empty(); });
  std::string text = fmt::format("plan: {} of {} rows run at scale {}: {}\n", plan.size() - size_t(skipped),
                                 plan.size(), scale.name, scale.summary);
  std::vector<std::pair<std::string, std::vector<std::string>>> rows_by_note;  // in the order of the plan
  for (const PlannedRow& planned : plan) {
    if (!planned.skip_reason.empty()) {
      text += fmt::format("  {:<14} SKIPPED: {}\n", planned.row.id, planned.skip_reason);
      continue;
    }
    for (const std::string& note : planned.notes) {
      const auto same = [&](const auto& entry) { return entry.first == note; };
      auto found = std::ranges::find_if(rows_by_note, same);
      if (found == rows_by_note.end()) found = rows_by_note.insert(found, {note, {}});
      found->second.push_back(planned.row.id);
    }
  }
  for (const auto& [note, rows] : rows_by_note)
    text +=
        fmt::format("  {}: {}\n",
                    rows.size() == plan.size() ? "all rows" : fmt::format("{}", fmt::join(rows, ", ")), note);
  return text;
}

}  // namespace harness
