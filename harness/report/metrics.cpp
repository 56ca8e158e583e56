// Defines each figure by name, unit, description and function, and formats it for CSV and tables.
#include "harness/report/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "harness/report/summary/summary.h"
#include "harness/stats/disturbance.h"
#include "harness/stats/provenance.h"

namespace harness {
namespace {

using Value = std::optional<double>;

Metric fact(const std::string& name, const std::string& unit, const std::string& description,
            const std::function<std::string(const SummaryRow&)>& text) {
  return {name, unit, description, {}, [text](const Summary&, const SummaryRow& row) { return text(row); }};
}

Metric field(const std::string& name) {
  return fact(name, "text", find_field(name)->help,
              [name](const SummaryRow& row) { return field_text(row.config, name); });
}

// Empty without a base in the same table.
Metric beside_base(const std::string& name, const std::string& description, bool SummaryRow::*differs) {
  return {name, "text", description, {}, [differs](const Summary& summary, const SummaryRow& row) {
            return std::string(!row.ok() || !base_of(summary, row) ? "" : row.*differs ? "1" : "0");
          }};
}

std::string number_formats(const SummaryRow& row) {
  const std::string& label = row.record->precision.label;
  return label.empty() ? row.config.precision : label;
}

std::vector<Metric> facts() {
  using Row = SummaryRow;
  return {
      fact("row", "text", "id", &Row::id),
      field("title"),
      fact("status", "text", "as in the record; status of the first repeat if none is OK", &Row::status),
      fact("reason", "text", "why the row has no figure; empty with OK", &Row::reason),
      fact("scale", "text", "article, emulated, rehearsal or smoke",
           [](const Row& row) { return row.record->scale.name; }),
      fact("device", "text", "cpu, cuda, emulated, or own: a user's own job",
           [](const Row& row) { return row.record->device.kind; }),
      fact("ran", "text", "what replaced the article's hardware",
           [](const Row& row) { return row.ok() ? row.ran : ""; }),
      fact("number_formats", "text", "precision as run, with its 16-bit type", number_formats),
      fact("link_that_ran", "text", "network between the nodes",
           [](const Row& row) { return link_that_ran(*row.record); }),
      fact("cache", "text", "state of the page cache before the slice",
           [](const Row& row) { return row.ok() ? row.cache : ""; }),
      field("batch"),
      field("window"),
      field("base"),
      field("identity"),
      field("inferred"),
      fact("group", "text", "the axis on which the row differs from its base", &Row::group),
      fact("repeats", "count", "number of runs of the row",
           [](const Row& row) { return std::to_string(row.repeats); }),
      fact("repeats_ok", "count", "number of runs with status OK",
           [](const Row& row) { return std::to_string(row.repeats_ok); }),
  };
}

std::vector<Metric> totals() {
  return {
      {"timed_batches", "count", "number of batches in the window",
       [](const SummaryRow& row) { return Value(row.run.batches); }},
      {.name = "total_s",
       .unit = "s",
       .description = "time of the timed batches, median of the repeats",
       .figure = &SummaryRow::total_s,
       .header = "s",
       .better = Better::lower},
      {"total_min_s", "s", "total_s of the fastest repeat", &SummaryRow::total_min_s},
      {"total_max_s", "s", "total_s of the slowest repeat", &SummaryRow::total_max_s},
      {.name = "images_per_second",
       .unit = "images/s",
       .description = "global batch x timed batches / total_s; none of rows traced on a GPU",
       .figure =
           [](const SummaryRow& row) {
             return has_comparable_rate(*row.record) ? Value(row.images_per_second) : std::nullopt;
           },
       .header = "img/s",
       .decimals = 0,
       .better = Better::higher},
      {"cpu_ms_per_image", "ms",
       "processor time of the ranks and of external loaders in the timed batches, per image",
       [](const SummaryRow& row) -> Value {
         const auto& own_s = row.record->environment.window_own_s;
         if (!own_s) return std::nullopt;
         return 1e3 * *own_s / (double(row.config.batch) * double(row.run.batches));
       }},
      {"others_share", "", "share of the row's cores that others took in its timed batches, 0-1",
       [](const SummaryRow& row) { return others_share(*row.record); }},
      {"undisturbed_s", "s",
       "total_s x (1 - others_share), of the repeat with the median total; only of rows that wait for "
       "nothing but the processor",
       [](const SummaryRow& row) {
         return is_processor_bound(*row.record) ? Value(undisturbed_s(*row.record)) : std::nullopt;
       }},
      {"ratio_to_base", "",
       "total of the base / total of the row: above 1 the row is faster; of the undisturbed totals where "
       "ratio_undisturbed is 1",
       &SummaryRow::ratio},
      beside_base("ratio_undisturbed",
                  "1: others took 2 % or more of the processor time of one of these runs, and the ratio is "
                  "of seconds without it",
                  &SummaryRow::ratio_undisturbed),
      beside_base("batch_differs",
                  "1: the base has another batch size, so the ratio compares batches, not images",
                  &SummaryRow::batch_differs),
      beside_base("window_differs", "1: the base was timed in another window", &SummaryRow::window_differs),
      fact("published_s", "s", "time that the article states for the row, also for failed rows",
           [](const SummaryRow& row) {
             return row.config.published_s > 0 ? fmt::format("{:.6g}", row.config.published_s) : "";
           }),
      {.name = "published_ratio",
       .unit = "",
       .description = "ratio_to_base from the article's figures",
       .figure = &SummaryRow::published_ratio,
       .header = "article",
       .decimals = 2},
      {.name = "trained",
       .unit = "text",
       .description = "on emulated devices: whether the row also trained for real on the processor; after "
                      "its whole slice the mean loss of the first and the last ten batches",
       .text = [](const Summary&, const SummaryRow& row) { return trained_text(row); },
       .header = "trained"},
  };
}

std::string flags_text(const SummaryRow& row) {
  std::string texts;
  for (const Flag& flag : row.flags) texts += (texts.empty() ? "" : "; ") + flag.text;
  return texts;
}

}  // namespace

const std::vector<Metric>& metrics() {
  static const std::vector<Metric> all = [] {
    std::vector<Metric> list;
    for (std::vector<Metric> (*part)() :
         {facts, totals, step_metrics, communication_metrics, phase_metrics, gpu_metrics}) {
      std::vector<Metric> some = part();
      std::ranges::move(some, std::back_inserter(list));
    }
    list.push_back(fact("flags", "text", "remarks that qualify the figures", flags_text));
    return list;
  }();
  return all;
}

const Metric& metric(const std::string& name) {
  for (const Metric& one : metrics())
    if (one.name == name) return one;
  throw std::out_of_range(name + ": no such metric; `./run_matrix list --metrics` lists all");
}

std::string csv_text(const Metric& metric, const Summary& summary, const SummaryRow& row) {
  if (metric.text) return metric.text(summary, row);
  const Value figure = row.ok() ? metric.figure(row) : std::nullopt;
  return figure ? fmt::format("{:.6g}", *figure) : "";
}

std::string cell_text(const Metric& metric, const SummaryRow& row) {
  const Value figure = metric.figure(row);
  if (!figure) return "-";
  return metric.decimals == Metric::kFourDigits ? four_digits(*figure)
                                                : fmt::format("{:.{}f}", *figure, metric.decimals);
}

static const char* better(const Metric& one) {
  return !one.better ? "" : *one.better == Better::lower ? "lower" : "higher";
}

std::string metrics_as_markdown() {
  std::string text = "| column | unit | better | meaning |\n|---|---|---|---|\n";
  for (const Metric& one : metrics())
    text += fmt::format("| `{}` | {} | {} | {} |\n", one.name, one.unit, better(one), one.description);
  return text;
}

std::string metrics_as_json() {
  nlohmann::json list = nlohmann::json::array();
  for (const Metric& one : metrics())
    list.push_back(
        {{"column", one.name}, {"unit", one.unit}, {"better", better(one)}, {"meaning", one.description}});
  return list.dump(2) + "\n";
}

std::string four_digits(double value) {
  return fmt::format("{:.{}f}", value, value < 10 ? 2 : value < 1000 ? 1 : 0);
}

}  // namespace harness
