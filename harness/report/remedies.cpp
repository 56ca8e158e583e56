// Finds remedies in the rows of a run, and words them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "harness/base/child_process.h"
#include "harness/report/bottleneck.h"
#include "harness/report/first_screen.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

bool is_shown_fairly(const SummaryRow& base, const SummaryRow& row) {
  for (const SummaryRow* one : {&base, &row})
    for (const Record* record : one->records)
      if (!no_verdict(*record).empty()) return false;
  return !row.batch_differs && !row.window_differs;
}

// Whether a setting made the gain: the rate of an emulated disk or link.
bool is_by_construction(const Remedy& remedy) {
  const auto any = [](const SummaryRow* row) {
    return std::ranges::any_of(row->records,
                               [](const Record* record) { return is_by_construction(*record); });
  };
  return any(remedy.base) || any(remedy.row);
}

// With an interval all of it must be a gain; without one, the figure must be.
double surely_gained(const Ratio& gain) { return gain.decides() ? gain.low : gain.value; }

// By how many times a purchase multiplies what is bought; 0 where rows don't say it.
double multiple_of(const Remedy& remedy) {
  const Row &before = remedy.base->config, &after = remedy.row->config;
  const std::string name = remedy.change->name;
  if (name == "more_devices") return double(all_devices(after)) / double(all_devices(before));
  if (name == "more_cores") return double(after.cpus) / double(before.cpus);
  if (name == "faster_link" && before.link_rate_mbit > 0) return after.link_rate_mbit / before.link_rate_mbit;
  return 0;
}

// What is found rather than set, then what gains more, and of equal gains what costs less.
bool is_better(const Remedy& one, const Remedy& other) {
  if (is_by_construction(one) != is_by_construction(other)) return is_by_construction(other);
  const double ratio = surely_gained(one.gain) / surely_gained(other.gain);
  if (ratio > 1 + kWorthMore || ratio < 1 - kWorthMore) return ratio > 1;
  return multiple_of(one) < multiple_of(other);
}

// The cache and an emulated disk's rate follow from the storage, the backend from the device.
bool follows(const std::string& field) {
  return field == "cache" || field == "read_rate" || field == "backend";
}

// `devices 1 -> 4, strategy single -> data_parallel`
std::string difference_of(const Remedy& remedy) {
  std::vector<std::string> parts;
  for (const char* field : remedy.change->fields) {
    const std::string before = field_text(remedy.base->config, field),
                      after = field_text(remedy.row->config, field);
    if (before != after && !follows(field)) parts.push_back(fmt::format("{} {} -> {}", field, before, after));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string copying_text(const RecordData& data) {
  if (!data.copied_in_s || !data.bytes) return "; the images are copied once";
  return fmt::format("; copying {:.2g} GB took {:.2g} s", 1e-9 * double(*data.bytes), *data.copied_in_s);
}

// Whether `explain` can make the change on this machine.
bool can_be_tried(const Intervention& change, const Record& record) {
  const std::string name = change.name, device = record.device.kind;
  if (name == "more_cores")
    return emulates_cores(record.config) || 2 * record.config.cpus <= record.machine.cores.value_or(0);
  return (name != "faster_device" || device != "cuda") && (name != "faster_peers" || device == "emulated");
}

std::string text_of_trial(const Remedy& remedy) {
  std::vector<std::string> ids;
  for (const SummaryRow* row : remedy.tried_on) ids.push_back(row->id);
  const Record& first = *remedy.tried_on.front()->record;
  const std::string file = first.config.device_file;
  Names command = {"./run_matrix"};
  if (first.config.identity == "own") command.push_back("MATRIX.yaml");  // the article's needs none
  command.insert(command.end(),
                 {"explain", ids.front(), "--device", first.device.kind + (file.empty() ? "" : ":" + file),
                  "--change", remedy.change->name});
  for (const std::string& setting : settings_in(first.set)) command.insert(command.end(), {"--set", setting});
  return fmt::format(
      "{} for {}: {}", remedy.change->next, counted(ids, 4),
      can_be_tried(*remedy.change, first)
          ? fmt::format("not measured yet; `{}` does", base::shell_line({command, {}, {}, {}, {}}))
          : "this machine has none to try it with");
}

}  // namespace

std::string counted(const std::vector<std::string>& ids, size_t most) {
  return ids.size() <= most ? fmt::format("{} {}", ids.size() == 1 ? "row" : "rows", fmt::join(ids, ", "))
                            : fmt::format("{} rows", ids.size());
}

std::optional<double> noise_between_equal_rows(const Summary& summary) {
  std::optional<double> noise;
  for (size_t i = 0; i < summary.rows.size(); ++i)
    for (size_t j = i + 1; j < summary.rows.size(); ++j) {
      const SummaryRow &one = summary.rows[i], &other = summary.rows[j];
      if (!one.ok() || !other.ok() || one.run.batches != other.run.batches) continue;
      if (!differences(one.config, other.config).empty()) continue;
      const Ratio ratio = total_ratio(summary, one, other);
      if (ratio.known()) noise = std::max(noise.value_or(0), std::exp(std::abs(std::log(ratio.value))) - 1);
    }
  return noise;
}

std::vector<Remedy> remedies_of(const Summary& summary) {
  if (summary.scale == "smoke") return {};
  const double noise = noise_between_equal_rows(summary).value_or(0);
  std::map<const Intervention*, Remedy> found;  // not gained: those that this run refutes
  for (const SummaryRow& row : summary.rows) {
    const SummaryRow* base = base_of(summary, row);
    if (!row.ok() || !base || !base->ok() || !row.ratio || !is_shown_fairly(*base, row)) continue;
    const Intervention* change = change_between(base->config, row.config);
    if (!change || change->cost == Cost::none) continue;
    const Remedy one{change, base, &row, total_ratio(summary, *base, row), {}};
    if (!one.gain.known()) continue;
    Remedy& best = found.try_emplace(change, one).first->second;
    if (is_better(one, best)) best = one;
  }
  for (const SummaryRow& row : summary.rows)
    if (const auto bottleneck = bottleneck_of(row); bottleneck && !is_by_construction(*row.record))
      for (const char* name : bottleneck->changes) {
        const Intervention* change = find_intervention(name);
        const auto shown = found.find(change);
        if (!is_possible(*change, *row.record) || (shown != found.end() && shown->second.row)) continue;
        Remedy& tried = found[change];
        tried.change = change;
        tried.tried_on.push_back(&row);
      }
  std::vector<Remedy> remedies;
  for (const auto& [change, remedy] : found)
    if (!remedy.row || surely_gained(remedy.gain) > 1 + noise) remedies.push_back(remedy);
  const auto place = [](const Remedy& one) { return one.change - interventions().data(); };
  std::ranges::sort(remedies, [&](const Remedy& a, const Remedy& b) {
    return a.gain.value != b.gain.value ? a.gain.value > b.gain.value : place(a) < place(b);
  });
  return remedies;
}

std::string text_of(const Remedy& remedy) {
  if (!remedy.row) return text_of_trial(remedy);
  std::string text = fmt::format("{}: {} times as fast", difference_of(remedy), text_of(remedy.gain));
  if (const double multiple = multiple_of(remedy); multiple > 1)
    text += fmt::format(" for {:g} times the {}", multiple, remedy.change->unit);
  text += fmt::format(" (row {} instead of {}{}{})", remedy.row->id, remedy.base->id,
                      remedy.gain.undisturbed ? ", without the processor time that others took" : "",
                      is_by_construction(remedy) ? "; by construction" : "");
  if (remedy.change->cost == Cost::conversion) text += copying_text(remedy.row->record->data);
  return text;
}

}  // namespace harness
