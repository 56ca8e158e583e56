// Turns records into summaries, one per scale and device: combines repeats and computes ratios to the base.
#include "harness/report/summary/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "harness/report/summary/ratio.h"
#include "harness/stats/disturbance.h"
#include "harness/stats/provenance.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

using nlohmann::json;

std::string all_of(const RecordList& records, const Describe& describe) {
  return distinct(records, describe, " (differs within the run)");
}

std::string describe_machine(const Record& record) {
  std::string text = record.machine.cpu;
  if (text.empty()) text = record.device.name;
  if (const double cores = double(record.machine.cores.value_or(0)); cores > 0)
    text += fmt::format(", {:.0f} {}", cores, cores == 1 ? "core" : "cores");
  if (const std::string host = record.machine.host; !host.empty()) text += ", host " + host;
  return text;
}

std::string describe_build(const Record& record) {
  std::string libtorch = version_of(record, "libtorch");
  if (libtorch.empty()) libtorch = record.build.libtorch;
  return fmt::format("LibTorch {}, revision {}", libtorch.empty() ? "unknown" : libtorch,
                     record.build.revision.empty() ? "unknown" : record.build.revision);
}

std::string describe_data(const Record& record) {
  std::string fingerprint = record.data.fingerprint;
  if (fingerprint.empty()) return "";
  std::string text = record.data.kind;
  if (const double images = double(record.data.images.value_or(0)); images > 0)
    text += fmt::format(", {:.0f} images", images);
  return text + ", fingerprint " + fingerprint;
}

std::string describe_what_ran(const Record& record) {
  std::string text = record.device.label;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  };
  if (record.config.precision != "o0") add(record.precision.label);
  const std::string link = record.config.link;
  const std::string used = storage_used(record);
  if (used != record.config.storage) add(used);
  std::string stand_in;  // an emulated link comes first, because a narrow column cuts off the end
  for (const std::string& words : record.emulated) {
    if (is_of_part(words, "link"))
      stand_in = words.substr(words.rfind(": ") + 2) + ", ";
    else
      add("emulated " + words);
  }
  if (link != "none") add(link_that_ran(record));
  return stand_in + text;
}

SummaryRow summarise_row(const RecordList& repeats, const Names& inferred_in_all) {
  RecordList ok;
  for (const Record* record : repeats)
    if (record->status == "OK") ok.push_back(record);
  std::ranges::stable_sort(
      ok, [](const Record* a, const Record* b) { return a->total_s.value_or(0) < b->total_s.value_or(0); });
  const Record& record = ok.empty() ? *repeats.front() : *ok[(ok.size() - 1) / 2];
  SummaryRow row;
  row.id = record.row;
  row.title = record.config.title;
  row.ran = describe_what_ran(record);
  row.cache = cache_state(record);
  row.status = record.status;
  row.reason = record.reason;
  row.config = record.config;
  row.record = &record;
  row.records.assign(ok.begin(), ok.end());
  row.repeats = static_cast<int>(repeats.size());
  row.repeats_ok = static_cast<int>(ok.size());
  if (!ok.empty()) {
    for (const Record* one : ok) row.runs.push_back(run_statistics(*one));
    row.run = row.runs[(ok.size() - 1) / 2];
    row.communication = communication_of(record);
    std::vector<double> totals;
    for (const RunStatistics& run : row.runs) totals.push_back(run.total_s);
    row.total_s = median(totals);
    row.total_min_s = totals.front();
    row.total_max_s = totals.back();
    row.images_per_second = row.run.images_per_second * row.run.total_s / row.total_s;
  }
  row.flags = flags_of(record, inferred_in_all, row.ok() ? &row.run : nullptr);
  if (!ok.empty())
    for (const Record* one : repeats)
      if (one->status != "OK")
        row.flags.push_back({'R', fmt::format("repeat {} {}: {}", one->repeat, one->status, one->reason)});
  return row;
}

void compare_with_base(const Summary& summary, SummaryRow& row, const SummaryRow* base) {
  row.group = group_of(row.config, base ? &base->config : nullptr);
  if (!base || base->id == row.id) return;
  row.window_differs = row.config.window != base->config.window;
  row.batch_differs = row.config.batch != base->config.batch;
  if (row.ok() && base->ok() && row.run.batches == base->run.batches) {
    const Ratio ratio = total_ratio(summary, *base, row);
    if (ratio.known()) row.ratio = ratio.value;
    row.ratio_of_some_rounds = ratio.of_some_rounds;
    row.ratio_undisturbed = ratio.undisturbed;
  }
  const double here = row.config.published_s;
  const double there = base->config.published_s;
  if (here > 0 && there > 0 && !row.window_differs) row.published_ratio = there / here;
}

// Accuracy rows train other sizes on other images, so they don't contribute to the other rows' summary.
Summary summarise_group(const RecordList& all) {
  RecordList records, of_accuracy;
  for (const Record* record : all) (record->config.validation ? of_accuracy : records).push_back(record);
  const bool accuracy_alone = records.empty();
  if (accuracy_alone) records = of_accuracy;
  const Record& first = *records.front();
  Summary summary;
  summary.scale = first.scale.name;
  summary.device = first.device.kind;
  if (summary.scale != "article")
    std::ranges::transform(summary.scale, std::back_inserter(summary.mark), ::toupper);
  if (summary.device == "emulated" && summary.scale != "emulated")
    summary.mark += summary.mark.empty() ? "EMULATED" : ", EMULATED";
  summary.scale_summary = all_of(records, [](const Record& r) { return r.scale.summary; });
  summary.machine = all_of(records, describe_machine);
  summary.build = all_of(records, describe_build);
  summary.data = all_of(records, describe_data);
  summary.set = all_of(records, [](const Record& r) { return r.set; });
  RecordList with_figures;
  for (const Record* record : records)
    if (record->status == "OK") with_figures.push_back(record);
  summary.timed_batches = all_of(with_figures.empty() ? records : with_figures, [](const Record& r) {
    return r.timed_batches ? std::to_string(*r.timed_batches) : "";
  });
  summary.accuracy = accuracy_rows(of_accuracy);
  if (accuracy_alone) return summary;
  const Names inferred = inferred_everywhere(records);
  summary.inferred = fmt::format("{}", fmt::join(inferred, ", "));
  for (const auto& [id, repeats] : by_row(records)) summary.rows.push_back(summarise_row(repeats, inferred));
  for (SummaryRow& row : summary.rows) compare_with_base(summary, row, find_row(summary, row.config.base));
  return summary;
}

}  // namespace

std::string distinct(const RecordList& records, const Describe& describe, const std::string& after_several) {
  Names seen;
  for (const Record* record : records)
    if (const std::string text = describe(*record); !text.empty()) add_once(seen, text);
  return fmt::format("{}{}", fmt::join(seen, " | "), seen.size() > 1 ? after_several : "");
}

const SummaryRow* find_row(const Summary& summary, const std::string& id) {
  const auto found = std::ranges::find(summary.rows, id, &SummaryRow::id);
  return found == summary.rows.end() ? nullptr : &*found;
}

const SummaryRow* base_of(const Summary& summary, const SummaryRow& row) {
  return row.config.base == row.id ? nullptr : find_row(summary, row.config.base);
}

Names settings_in(const std::string& set) {
  Names settings;
  std::istringstream words(set);
  for (std::string word; words >> word;)
    if (settings.empty() ||
        (word.find('=') != std::string::npos && find_field(word.substr(0, word.find('=')))))
      settings.push_back(word);
    else
      settings.back() += " " + word;
  return settings;
}

std::vector<Summary> summarise(const Records& records) {
  std::vector<std::pair<std::string, RecordList>> groups;
  for (const Record& record : records) {
    const std::string key = record.scale.name + "\n" + record.device.kind;
    auto group = std::ranges::find_if(groups, [&](const auto& other) { return other.first == key; });
    if (group == groups.end()) group = groups.insert(groups.end(), {key, {}});
    group->second.push_back(&record);
  }
  std::vector<Summary> summaries;
  for (const auto& [key, members] : groups) summaries.push_back(summarise_group(members));
  return summaries;
}

}  // namespace harness
