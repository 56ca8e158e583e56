// Turns records into summary rows: repeats joined, ratios to the base, one summary per scale and device.
#include "harness/report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/stats/records.h"
#include "harness/report/accuracy.h"

namespace harness {
namespace {

using nlohmann::json;

// The different texts that a list of records holds, in order, as one line.
template <typename Describe>
std::string all_of(const RecordList& records, Describe describe) {
  std::vector<std::string> seen;
  for (const json* record : records) {
    const std::string text = describe(*record);
    if (!text.empty() && std::find(seen.begin(), seen.end(), text) == seen.end()) seen.push_back(text);
  }
  if (seen.size() <= 1) return seen.empty() ? "" : seen.front();
  return fmt::format("{} (differs within the run)", fmt::join(seen, " | "));
}

std::string describe_machine(const json& record) {
  std::string text = text_at(record, "/machine/cpu");
  if (text.empty()) text = text_at(record, "/device/name");
  if (const double cores = number_at(record, "/machine/cores"); cores > 0)
    text += fmt::format(", {:.0f} {}", cores, cores == 1 ? "core" : "cores");
  if (const std::string host = text_at(record, "/machine/host"); !host.empty()) text += ", host " + host;
  return text;
}

std::string describe_build(const json& record) {
  std::string libtorch = text_at(record, "/versions/libtorch");
  if (libtorch.empty()) libtorch = text_at(record, "/build/libtorch");
  return fmt::format(
      "LibTorch {}, revision {}", libtorch.empty() ? "unknown" : libtorch,
      text_at(record, "/build/revision").empty() ? "unknown" : text_at(record, "/build/revision"));
}

std::string describe_data(const json& record) {
  std::string fingerprint = text_at(record, "/data/fingerprint");
  if (fingerprint.empty()) return "";
  std::string text = text_at(record, "/data/kind");
  if (const double images = number_at(record, "/data/images"); images > 0)
    text += fmt::format(", {:.0f} images", images);
  return text + ", fingerprint " + fingerprint;
}

std::string describe_what_ran(const json& record) {
  std::string text = text_at(record, "/device/label");
  const auto add = [&](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  };
  if (text_at(record, "/config/precision") != "o0") add(text_at(record, "/precision/label"));
  const std::string link = text_at(record, "/config/link");
  const std::string used = text_at(record, "/cache/storage_used");
  if (used != text_at(record, "/config/storage")) add(used);
  std::string stand_in;  // for a link: it comes first, because a narrow column cuts the rest
  const json emulated = record.value("emulated", json::array());
  for (const json& field : emulated) {
    const std::string words = field.is_string() ? field.get<std::string>() : "";
    if (words.rfind("link: ", 0) == 0)
      stand_in = words.substr(words.rfind(": ") + 2) + ", ";
    else
      add("emulated " + words);
  }
  if (link != "none") add(link);
  return stand_in + text;
}

SummaryRow summarise_row(const RecordList& repeats, const Names& inferred_in_all) {
  RecordList ok;
  for (const json* record : repeats)
    if (text_at(*record, "/status") == "OK") ok.push_back(record);
  std::stable_sort(ok.begin(), ok.end(), [](const json* a, const json* b) {
    return number_at(*a, "/total_s") < number_at(*b, "/total_s");
  });
  const json& record = ok.empty() ? *repeats.front() : *ok[(ok.size() - 1) / 2];
  SummaryRow row;
  row.id = text_at(record, "/row");
  row.title = text_at(record, "/config/title");
  row.ran = describe_what_ran(record);
  row.cache = text_at(record, "/cache/state");
  row.status = text_at(record, "/status");
  row.reason = text_at(record, "/reason");
  row.config = record.at("config");
  row.record = &record;
  row.records.assign(ok.begin(), ok.end());
  row.repeats = static_cast<int>(repeats.size());
  row.repeats_ok = static_cast<int>(ok.size());
  if (!ok.empty()) {
    for (const json* one : ok) row.runs.push_back(run_statistics(*one));
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
    for (const json* one : repeats)
      if (text_at(*one, "/status") != "OK")
        row.flags.push_back({'R', fmt::format("repeat {:.0f} {}: {}", number_at(*one, "/repeat"),
                                              text_at(*one, "/status"), text_at(*one, "/reason"))});
  return row;
}

void compare_with_base(SummaryRow& row, const SummaryRow* base) {
  row.group = group_of(row.config, base ? &base->config : nullptr);
  if (!base || base->id == row.id) return;
  row.window_differs = row.config.value("window", json()) != base->config.value("window", json());
  row.batch_differs = row.config.value("batch", json()) != base->config.value("batch", json());
  if (row.ok() && base->ok() && row.run.batches == base->run.batches) row.ratio = base->total_s / row.total_s;
  const double here = number_at({{"config", row.config}}, "/config/published_s");
  const double there = number_at({{"config", base->config}}, "/config/published_s");
  if (here > 0 && there > 0 && !row.window_differs) row.published_ratio = there / here;
}

// Rows of accuracy train other sizes on other images: nothing of theirs belongs into the other rows' lines.
Summary summarise_group(const RecordList& all) {
  RecordList records, of_accuracy;
  for (const json* record : all) (is_of_accuracy(*record) ? of_accuracy : records).push_back(record);
  const bool accuracy_alone = records.empty();
  if (accuracy_alone) records = of_accuracy;
  const json& first = *records.front();
  Summary summary;
  summary.scale = text_at(first, "/scale/name");
  summary.device = text_at(first, "/device/kind");
  if (summary.scale != "article")
    std::transform(summary.scale.begin(), summary.scale.end(), std::back_inserter(summary.mark), ::toupper);
  summary.scale_summary = all_of(records, [](const json& r) { return text_at(r, "/scale/summary"); });
  summary.machine = all_of(records, describe_machine);
  summary.build = all_of(records, describe_build);
  summary.data = all_of(records, describe_data);
  summary.set = all_of(records, [](const json& r) { return text_at(r, "/set"); });
  RecordList with_figures;
  for (const json* record : records)
    if (text_at(*record, "/status") == "OK") with_figures.push_back(record);
  summary.timed_batches = all_of(with_figures.empty() ? records : with_figures, [](const json& r) {
    const double batches = number_at(r, "/timed_batches", number_at(r, "/config/timed_batches"));
    return batches > 0 ? fmt::format("{:.0f}", batches) : "";
  });
  summary.accuracy = accuracy_rows(of_accuracy);
  if (accuracy_alone) return summary;
  const Names inferred = inferred_everywhere(records);
  summary.inferred = fmt::format("{}", fmt::join(inferred, ", "));
  for (const auto& [id, repeats] : by_row(records)) summary.rows.push_back(summarise_row(repeats, inferred));
  for (SummaryRow& row : summary.rows) {
    const std::string id = text_at({{"config", row.config}}, "/config/base");
    const auto base = std::find_if(summary.rows.begin(), summary.rows.end(),
                                   [&](const SummaryRow& other) { return other.id == id; });
    compare_with_base(row, base == summary.rows.end() ? nullptr : &*base);
  }
  return summary;
}

}  // namespace

std::string group_of(const json& config, const json* base) {
  static const std::vector<std::pair<std::string, std::vector<std::string>>> axes = {
      {"nodes", {"nodes", "link"}},
      {"devices", {"devices", "batch"}},
      {"strategy", {"strategy", "backend", "sync_bn"}},
      {"threads", {"cpus", "loader_threads"}},
      {"precision", {"precision"}},
      {"storage",
       {"storage", "order", "cache", "read_rate", "read_latency_ms", "store_rate_mbit", "store_latency_ms",
        "readahead", "interleave", "shuffle_window"}},
      {"loading", {"batch_format", "ring_depth", "pin_loader_threads"}}};
  if (base)
    for (const auto& [axis, fields] : axes)
      for (const std::string& field : fields)
        if (config.value(field, json()) != base->value(field, json())) return axis;
  const json record = {{"config", config}};
  if (number_at(record, "/config/nodes", 1) > 1) return "nodes";
  const std::string strategy = text_at(record, "/config/strategy");
  if (strategy != "single" && strategy != "data_parallel") return "strategy";
  // The article's second series, from its row [0] on, is about devices; its first is about storage.
  if (strategy == "data_parallel" || text_at(record, "/config/window") == "100-399") return "devices";
  return text_at(record, "/config/precision") == "o0" ? "storage" : "precision";
}

std::vector<Summary> summarise(const std::vector<json>& records) {
  std::vector<std::pair<std::string, RecordList>> groups;
  for (const json& record : records) {
    const std::string key = text_at(record, "/scale/name") + "\n" + text_at(record, "/device/kind");
    auto group =
        std::find_if(groups.begin(), groups.end(), [&](const auto& other) { return other.first == key; });
    if (group == groups.end()) group = groups.insert(groups.end(), {key, {}});
    group->second.push_back(&record);
  }
  std::vector<Summary> summaries;
  for (const auto& [key, members] : groups) summaries.push_back(summarise_group(members));
  return summaries;
}

const std::vector<PhaseGroup>& phase_groups() {
  static const std::vector<PhaseGroup> groups = {
      {"load", {"load"}},    {"move", {"h2d", "scatter", "broadcast"}},
      {"fwd", {"forward"}},  {"loss", {"gather", "loss"}},
      {"bwd", {"backward"}}, {"comm", {"reduce", "sync"}},
      {"step", {"step"}},    {"other", {"other"}}};
  return groups;
}

double group_share(const RunStatistics& run, const PhaseGroup& group) {
  double share = 0;
  for (const PhaseStatistics& phase : run.phases)
    for (const char* name : group.phases)
      if (phase.name == name) share += phase.share;
  return share;
}

}  // namespace harness
