// Finds interventions by name or by two rows that differ by one, and makes the changed rows.
#include <fmt/format.h>

#include <algorithm>

#include "harness/config/config.h"
#include "harness/config/nearest.h"
#include "harness/config/row_traits.h"
#include "harness/experiment/intervention.h"
#include "harness/stats/provenance.h"

namespace harness {

const Intervention* find_intervention(const std::string& name) {
  for (const Intervention& change : interventions())
    if (name == change.name) return &change;
  return nullptr;
}

void require_changes(const std::vector<std::string>& names, bool of_job) {
  std::vector<std::string> known;
  for (const Intervention& change : interventions()) {
    const bool changes_jobs = change.of_job || *change.computed_from;
    const bool changes_rows = change.apply || change.of_device || !changes_jobs;
    if (of_job ? changes_jobs : changes_rows) known.push_back(change.name);
  }
  for (const std::string& name : names)
    if (!std::ranges::count(known, name))
      throw ConfigError({"--change " + name}, fmt::format("no such change of a {}", of_job ? "job" : "row"),
                        "", "", suggestion(name, known));
}

bool is_possible(const Intervention& change, const Record& record) {
  const auto changes = [&](const char* field) {
    return std::ranges::find(change.fields, std::string(field)) != change.fields.end();
  };
  if (has_external_loader(record.config) && (changes("storage") || changes("decoder"))) return false;
  if (record.job) return false;  // a user's own job has no fields of a row that could be set
  static const AxisValues none;
  return change.possible ? change.possible(record) : change.why_not(record.config, {none}).empty();
}

const char* title_of_change(const std::string& name) {
  const Intervention* change = find_intervention(name);
  return change ? change->title : "";
}

static bool shows(const Intervention& change, const Row& base, const Row& row,
                  const std::vector<std::string>& differing) {
  const auto has = [](const std::vector<const char*>& list, const std::string& text) {
    return std::ranges::find(list, text) != list.end();
  };
  if (!std::ranges::all_of(differing, [&](const auto& name) { return has(change.fields, name); }))
    return false;
  if (change.values.empty())
    return std::ranges::all_of(differing, [&](const std::string& name) {
      return field_number(row, name) >= field_number(base, name);
    });
  const std::string key = change.fields.front();
  return field_text(base, key) != field_text(row, key) && has(change.values, field_text(row, key));
}

std::vector<std::string> differences(const Row& one, const Row& other) {
  std::vector<std::string> names = different_settings(one, other);
  std::erase_if(names, [](const std::string& name) { return name == "window" || name == "warmup_batches"; });
  return names;
}

ChangedRow changed_row(const Row& row, const std::string& name, const std::string& why_not,
                       const AxisValues& values, const std::function<void(Row&)>& change) {
  ChangedRow changed{row, why_not, {}};
  changed.row.id = name;
  if (why_not.empty()) try {
      change(changed.row);
      check_combination(changed.row, {name}, values);
    } catch (const ConfigError& error) {
      changed.why_not = error.what();
    }
  return changed;
}

ChangedRow on_device(const Row& row, const std::string& name, const std::string& why_not,
                     const AxisValues& values, EmulatedDevice device,
                     const std::function<void(Row&)>& change) {
  device.name = fmt::format("{}-{}", device.name, name);
  ChangedRow changed = changed_row(row, name, why_not, values, [&](Row& other) {
    other.device_file = device.name;
    change(other);
  });
  if (changed.row.device_file == device.name) changed.device = std::move(device);
  return changed;
}

std::vector<ChangedRow> changed_rows(const Row& row, const RowContext& context) {
  std::vector<ChangedRow> all;
  for (const Intervention& change : interventions()) {
    const bool of_device = change.of_device && context.device;
    if (!of_device && !change.apply) continue;
    const std::string why_not = change.why_not ? change.why_not(row, context) : "";
    if (of_device) {
      EmulatedDevice device = *context.device;
      change.of_device(device);
      all.push_back(on_device(row, change.name, why_not, context.values, std::move(device), [](Row&) {}));
    } else {
      all.push_back(changed_row(row, change.name, why_not, context.values,
                                [&](Row& other) { change.apply(other, context); }));
    }
  }
  return all;
}

void make_twice_as_fast(EmulatedDevice& device) {
  for (auto& [model, precisions] : device.models)
    for (auto& [precision, costs] : precisions)
      for (SourcedFigure PrecisionCosts::*cost :
           {&PrecisionCosts::forward_ms_per_image, &PrecisionCosts::forward_ms,
            &PrecisionCosts::backward_ms_per_image, &PrecisionCosts::backward_ms,
            &PrecisionCosts::optimizer_ms})
        (costs.*cost).value /= 2;
  device.memory_gb_per_s.value *= 2;
}

const Intervention* change_between(const Row& base, const Row& row) {
  const std::vector<std::string> differing = differences(base, row);
  if (differing.empty()) return nullptr;
  const auto found = std::ranges::find_if(
      interventions(), [&](const Intervention& change) { return shows(change, base, row, differing); });
  return found == interventions().end() ? nullptr : &*found;
}

}  // namespace harness
