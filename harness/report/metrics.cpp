#include "harness/report/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "harness/stats/disturbance.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

using Value = std::optional<double>;

// Nullopt for 0, which means that the figure is absent.
Value positive(double value) { return value > 0 ? Value(value) : std::nullopt; }

Metric field(const std::string& name) {
  const Field* found = find_field(name);
  return {name, "text", found->help, {}, [name](const Summary&, const SummaryRow& row) {
            return field_text(row.config, name);
          }};
}

// From the times of the batches; nullopt for a row that ran without phase clock.
Metric of_run(const std::string& name, const std::string& unit, const std::string& description,
              std::function<Value(const RunStatistics&)> figure) {
  return {name, unit, description,
          [figure](const SummaryRow& row) { return row.run.has_samples ? figure(row.run) : std::nullopt; }};
}

Metric of_communication(const std::string& name, const std::string& unit, const std::string& description,
                        std::function<Value(const Communication&)> figure) {
  return {name, unit, description, [figure](const SummaryRow& row) {
            return row.communication ? figure(*row.communication) : std::nullopt;
          }};
}

Metric followed(Metric metric, Better better = Better::lower) {
  metric.better = better;
  return metric;
}

const SummaryRow* base_of(const Summary& summary, const SummaryRow& row) {
  for (const SummaryRow& other : summary.rows)
    if (other.id == row.config.base && other.id != row.id) return &other;
  return nullptr;
}

// Empty without a base in the same table.
Metric beside_base(const std::string& name, const std::string& description, bool SummaryRow::*differs) {
  return {name, "text", description, {}, [differs](const Summary& summary, const SummaryRow& row) {
            return std::string(!row.ok() || !base_of(summary, row) ? "" : row.*differs ? "1" : "0");
          }};
}

Value of_phase(const RunStatistics& run, const std::string& name, double PhaseStatistics::*figure) {
  for (const PhaseStatistics& phase : run.phases)
    if (phase.name == name && phase.mean_ms > 0) return phase.*figure;
  return std::nullopt;
}

std::vector<Metric> facts() {
  return {
      {"row", "text", "id", {}, [](const Summary&, const SummaryRow& row) { return row.id; }},
      field("title"),
      {"status",
       "text",
       "as in the record; status of the first repeat if none is OK",
       {},
       [](const Summary&, const SummaryRow& row) { return row.status; }},
      {"reason",
       "text",
       "why the row has no figure; empty with OK",
       {},
       [](const Summary&, const SummaryRow& row) { return row.reason; }},
      {"scale",
       "text",
       "article, rehearsal or smoke",
       {},
       [](const Summary& summary, const SummaryRow&) { return summary.scale; }},
      {"device",
       "text",
       "cpu or cuda",
       {},
       [](const Summary& summary, const SummaryRow&) { return summary.device; }},
      {"ran",
       "text",
       "what replaced the article's hardware",
       {},
       [](const Summary&, const SummaryRow& row) { return row.ok() ? row.ran : ""; }},
      {"cache",
       "text",
       "state of the page cache before the slice",
       {},
       [](const Summary&, const SummaryRow& row) { return row.ok() ? row.cache : ""; }},
      field("batch"),
      field("window"),
      field("base"),
      field("identity"),
      field("inferred"),
      {"group",
       "text",
       "the axis on which the row differs from its base",
       {},
       [](const Summary&, const SummaryRow& row) { return row.group; }},
      {"repeats",
       "count",
       "number of runs of the row",
       {},
       [](const Summary&, const SummaryRow& row) { return std::to_string(row.repeats); }},
      {"repeats_ok",
       "count",
       "number of runs with status OK",
       {},
       [](const Summary&, const SummaryRow& row) { return std::to_string(row.repeats_ok); }},
  };
}

std::vector<Metric> totals() {
  return {
      {"timed_batches", "count", "number of batches in the window",
       [](const SummaryRow& row) { return Value(row.run.batches); }},
      {.name = "total_s",
       .unit = "s",
       .description = "time of the timed batches, median of the repeats",
       .figure = [](const SummaryRow& row) { return Value(row.total_s); },
       .header = "s",
       .better = Better::lower},
      {"total_min_s", "s", "total_s of the fastest repeat",
       [](const SummaryRow& row) { return Value(row.total_min_s); }},
      {"total_max_s", "s", "total_s of the slowest repeat",
       [](const SummaryRow& row) { return Value(row.total_max_s); }},
      {.name = "images_per_second",
       .unit = "images/s",
       .description = "global batch x timed batches / total_s",
       .figure = [](const SummaryRow& row) { return Value(row.images_per_second); },
       .header = "img/s",
       .decimals = 0,
       .better = Better::higher},
      {"others_share", "", "share of the row's cores that others took in its timed batches, 0-1",
       [](const SummaryRow& row) { return others_share(*row.record); }},
      {"undisturbed_s", "s",
       "total_s x (1 - others_share), of the repeat with the median total; only of rows that wait for "
       "nothing "
       "but the processor",
       [](const SummaryRow& row) {
         return is_processor_bound(*row.record) ? Value(undisturbed_s(*row.record)) : std::nullopt;
       }},
      {"ratio_to_base", "",
       "total of the base / total of the row: above 1 the row is faster; of the undisturbed totals where "
       "ratio_undisturbed is 1",
       [](const SummaryRow& row) { return row.ratio; }},
      beside_base(
          "ratio_undisturbed",
          "1: others took 2 % or more of the processor time of one of these runs, and the ratio is of "
          "seconds without it",
          &SummaryRow::ratio_undisturbed),
      beside_base("batch_differs",
                  "1: the base has another batch size, so the ratio compares batches, not images",
                  &SummaryRow::batch_differs),
      beside_base("window_differs", "1: the base was timed in another window", &SummaryRow::window_differs),
      {"published_s",
       "s",
       "time that the article states for the row, also for failed rows",
       {},
       [](const Summary&, const SummaryRow& row) {
         return row.config.published_s > 0 ? fmt::format("{:.6g}", row.config.published_s) : "";
       }},
      {.name = "published_ratio",
       .unit = "",
       .description = "ratio_to_base from the article's figures",
       .figure = [](const SummaryRow& row) { return row.published_ratio; },
       .header = "article",
       .decimals = 2},
  };
}

std::vector<Metric> steps() {
  using Run = RunStatistics;
  const std::string interval = "end of the 95 % interval of the median within one run, not for comparisons";
  return {
      of_run("mean_ms", "ms", "mean step (the slowest rank's sum of phases in a batch)",
             [](const Run& run) { return run.mean_ms; }),
      followed(of_run("median_ms", "ms", "median step", [](const Run& run) { return run.median_ms; })),
      of_run("median_within_run_ci_low_ms", "ms", "lower " + interval,
             [](const Run& run) { return run.median_ci_ms ? Value(run.median_ci_ms->low) : std::nullopt; }),
      of_run("median_within_run_ci_high_ms", "ms", "upper " + interval,
             [](const Run& run) { return run.median_ci_ms ? Value(run.median_ci_ms->high) : std::nullopt; }),
      of_run("iqr_share", "", "interquartile range / median of the steps",
             [](const Run& run) { return run.iqr_share; }),
      of_run("p5_ms", "ms", "5th percentile of the steps", [](const Run& run) { return run.p5_ms; }),
      of_run("p95_ms", "ms", "95th percentile of the steps", [](const Run& run) { return run.p95_ms; }),
      followed(
          of_run("p99_ms", "ms", "99th percentile of the steps", [](const Run& run) { return run.p99_ms; })),
      of_run("max_ms", "ms", "longest step", [](const Run& run) { return run.max_ms; }),
      of_run("startup_ms", "ms", "first step, if the window begins with it",
             [](const Run& run) { return run.startup_ms; }),
      {.name = "skew_ms",
       .unit = "ms",
       .description = "slowest minus fastest rank, median over the batches; only rows with several ranks",
       .figure =
           [](const SummaryRow& row) {
             return row.record->world_size > 1 && row.run.has_samples ? Value(row.run.skew_ms) : std::nullopt;
           },
       .better = Better::lower},
      of_run("rho_1", "", "autocorrelation of neighbouring steps", [](const Run& run) { return run.rho_1; }),
      of_run("tau_int", "batches", "integrated autocorrelation time",
             [](const Run& run) { return run.tau_int; }),
      of_run("n_eff", "batches", "effective number of independent batches: timed batches / tau_int",
             [](const Run& run) { return run.n_eff; }),
      of_run("drift_share", "", "median step of the last third / median step of the first third - 1",
             [](const Run& run) { return run.batches >= 3 ? Value(run.drift_share) : std::nullopt; }),
      of_run("drift_ci_low", "", "lower end of the 95 % interval of drift_share",
             [](const Run& run) { return run.drift_ci ? Value(run.drift_ci->low) : std::nullopt; }),
      of_run("drift_ci_high", "", "upper end of the 95 % interval of drift_share",
             [](const Run& run) { return run.drift_ci ? Value(run.drift_ci->high) : std::nullopt; }),
  };
}

std::vector<Metric> communications() {
  using It = Communication;
  return {
      of_communication("all_reduced_bytes_per_batch", "bytes", "bytes that one rank all-reduces",
                       [](const It& it) { return positive(it.all_reduced_bytes); }),
      of_communication("all_reduces_per_batch", "count", "all-reduces in the last batch",
                       [](const It& it) { return positive(double(it.messages.size())); }),
      followed(of_communication("communication_ms", "ms",
                                "time per batch with at least one collective posted and not done",
                                [](const It& it) { return positive(it.under_way_ms); })),
      {.name = "exposed_ms",
       .unit = "ms",
       .description = "communication per batch that backward did not hide: phase sync and waits of SyncBN",
       .figure =
           [](const SummaryRow& row) {
             return row.communication && row.run.has_samples ? Value(row.communication->exposed_ms)
                                                             : std::nullopt;
           },
       .better = Better::lower},
      of_communication("all_reduces_alone_ms", "ms",
                       "time of the last batch's all-reduces with nothing else running",
                       [](const It& it) { return positive(it.alone_ms); }),
      of_communication("link_bytes_share", "",
                       "bytes that a node's link counted / bytes that the collectives must send",
                       [](const It& it) { return positive(it.link_share.value_or(0)); }),
  };
}

std::vector<Metric> phases() {
  std::vector<Metric> list;
  for (const std::string& name : phase_names()) {
    list.push_back(
        of_run(name + "_share", "", "share of phase " + name + " in the mean step, 0-1",
               [name](const RunStatistics& run) { return of_phase(run, name, &PhaseStatistics::share); }));
    list.push_back(of_run(
        name + "_median_ms", "ms", "time of phase " + name + ", mean over ranks, median over batches",
        [name](const RunStatistics& run) { return of_phase(run, name, &PhaseStatistics::median_ms); }));
  }
  return list;
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
    for (std::vector<Metric> (*part)() : {facts, totals, steps, communications, phases}) {
      std::vector<Metric> some = part();
      std::move(some.begin(), some.end(), std::back_inserter(list));
    }
    list.push_back(
        {"flags", "text", "remarks that qualify the figures", {}, [](const Summary&, const SummaryRow& row) {
           return flags_text(row);
         }});
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

std::string metrics_as_markdown() {
  std::string text = "| column | unit | better | meaning |\n|---|---|---|---|\n";
  for (const Metric& one : metrics())
    text += fmt::format("| `{}` | {} | {} | {} |\n", one.name, one.unit,
                        !one.better                    ? ""
                        : *one.better == Better::lower ? "lower"
                                                       : "higher",
                        one.description);
  return text;
}

std::string four_digits(double value) {
  return fmt::format("{:.{}f}", value, value < 10 ? 2 : value < 1000 ? 1 : 0);
}

}  // namespace harness
