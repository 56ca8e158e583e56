// Sets emulated rows beside the article's figures and the closed-form model, and explains misses.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "harness/report/article_tables.h"
#include "harness/report/bottleneck.h"
#include "harness/report/claim_question.h"
#include "harness/report/grids.h"
#include "harness/report/summary/article_comparison.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

std::string seconds_cell(const std::optional<double>& value) { return value ? article_number(*value) : "-"; }

std::string error_text(const std::optional<double>& share) {
  return share ? fmt::format("{:+.1f} %", 100 * *share) : "-";
}

std::string emulated_cell(const ArticleComparison& one) {
  if (!one.ok()) return one.row->status;
  if (one.row->repeats_ok < 2) return seconds_cell(one.emulated_s);
  return fmt::format("{} ({} to {})", seconds_cell(one.emulated_s), seconds_cell(one.low_s),
                     seconds_cell(one.high_s));
}

std::optional<double> above_model(const ArticleComparison& one) {
  if (!one.ok() || !one.model_s || !one.model_has_load) return std::nullopt;
  return *one.emulated_s / *one.model_s - 1;
}

std::string used_of(const ArticleComparison& one) {
  const std::string rate = one.loader_rate_is_set ? "; its loader's rate is a setting" : "";
  if (!one.calibrated_on.empty()) return "calibrated on its " + one.calibrated_on + rate;
  return (one.predicted ? "held out" : "not known") + rate;
}

// Why the emulated row misses the article's, as far as the record shows it; `-` within the margin.
std::string reason_of_miss(const ArticleComparison& one) {
  const SummaryRow& row = *one.row;
  if (!one.ok()) return one_line(row.reason);
  const auto found = bottleneck_of(row);
  if (one.loader_rate_is_set)
    return fmt::format("waits for a loader whose rate is a setting: {}", found ? found->figure : "");
  if (!one.error() || std::abs(*one.error()) <= kArticleMargin) return "-";
  if (found && found->verdict == "loader")
    return fmt::format("waits for this machine's loader: {}", found->figure);
  const double article_ms = 1000 * *one.article_s / kArticleBatches,
               emulated_ms = 1000 * *one.emulated_s / kArticleBatches;
  const auto difference = above_model(one);
  if (difference && *difference > kEqualsModel)
    return fmt::format("{:.1f} ms a batch above the closed-form model; it waits for {}{}",
                       emulated_ms - 1000 * *one.model_s / kArticleBatches,
                       found ? found->verdict : "something that the record doesn't show",
                       found && !found->cause.empty() ? ": " + found->cause : "");
  if (one.row->config.storage == "synthetic" && emulated_ms < article_ms)
    return fmt::format(
        "made-up batches: what the article's batch waits for images is missing, at most {:.1f} ms",
        article_ms - emulated_ms);
  if (row.config.cache == "cold" && emulated_ms < article_ms)
    return fmt::format(
        "the storage here keeps up with the device; the article's batch takes {:.1f} ms longer",
        article_ms - emulated_ms);
  return fmt::format(
      "it waits for the device alone; the article's batch takes {:.1f} ms {} than its figures explain",
      std::abs(article_ms - emulated_ms), article_ms > emulated_ms ? "longer" : "less");
}

// `Held out: [10] +8.9 %, [12] -0.2 %; largest +8.9 %`
std::string prediction_text(const std::vector<ArticleComparison>& rows) {
  std::vector<std::string> parts;
  for (const ArticleComparison& one : rows)
    if (one.predicted && one.error())
      parts.push_back(fmt::format("{} {}", bracketed(one.row->id), error_text(one.error())));
  if (parts.empty()) return "No row that is held out has a figure here.";
  return fmt::format("Held out, emulated / article: {}.", fmt::join(parts, ", "));
}

// A line for each device, then for each device file that was calibrated on the article.
std::vector<std::string> lines_above_emulated(const Summary& summary,
                                              const std::vector<ArticleComparison>& rows) {
  std::vector<std::string> lines = lines_above(summary), calibrated;
  for (const ArticleComparison& one : rows) {
    const auto& emulation = one.row->record->emulation;
    add_once(lines, emulation ? fmt::format("Emulated device {}: {}.", emulation->device.name,
                                            one_line(emulation->device.summary))
                              : "The records of some rows don't contain their device file: they were written "
                                "before it was recorded.");
    if (!emulation || emulation->device.calibrated_on.empty()) continue;
    std::vector<std::string> parts;
    for (const auto& [row, figures] : emulation->device.calibrated_on)
      parts.push_back(fmt::format("{} ({})", bracketed(row), one_line(figures)));
    add_once(calibrated,
             fmt::format("{} is calibrated on {}.", emulation->device.name, fmt::join(parts, ", ")));
  }
  if (!calibrated.empty()) calibrated.push_back(prediction_text(rows));
  lines.insert(lines.end(), calibrated.begin(), calibrated.end());
  return lines;
}

// Why the row is another than the article's, and why its time is.
std::string why_of(const ArticleComparison& one) {
  const std::string reason = reason_of_miss(one);
  if (one.differs.empty()) return reason;
  return one_line(one.differs) + (reason == "-" ? "" : "; " + reason);
}

void add_row(const ArticleComparison& one, Grid& grid) {
  const SummaryRow& row = *one.row;
  grid.rows.push_back({row_mark(row), row.title, emulated_cell(one), seconds_cell(one.article_s),
                       error_text(one.error()),
                       seconds_cell(one.model_s) + (one.model_s && !one.model_has_load ? "^" : ""),
                       used_of(one), why_of(one)});
  const auto add = [&](const char* quantity, const char* unit, const std::string& text, Reading reading) {
    grid.values.push_back({row.id, quantity, unit, text, reading});
  };
  add("status", "text", row.status, {});
  add("emulated", "s", "", {one.emulated_s, one.low_s, one.high_s, one.article_s});
  add("closed-form model", "s", "", {one.model_s, {}, {}, one.article_s});
  add("error", "share", "", {one.error(), {}, {}, {}});
  add("used", "text", used_of(one), {});
  add("differs", "text", one_line(one.differs), {});
  add("why", "text", reason_of_miss(one), {});
}

}  // namespace

Grid emulated_grid(const Summary& summary) {
  Grid grid;
  const std::vector<ArticleComparison> rows = article_comparisons(summary);
  if (rows.empty()) return grid;
  grid.title = "emulated: the cascade beside the article's";
  grid.above = lines_above_emulated(summary, rows);
  grid.columns = {{"row", true}, {"what", true, true},      {"emulated s"},          {"article s"}, {"error"},
                  {"model s"},   {"used", true, false, 22}, {"why", true, false, 40}};
  for (const ArticleComparison& one : rows) add_row(one, grid);
  grid.notes = {
      fmt::format("emulated s: of {:g} batches of the article's size, in the devices' time. Loading is real "
                  "and this machine's, so a row that waits for images depends on this machine as well.",
                  kArticleBatches),
      "error: emulated / article - 1, of rows held out whose loader's rate is no setting: what the device "
      "was calibrated on has no accuracy, nor has another device than the article's.",
      "model: the closed-form model, max(load, compute + copies + exposed communication), from the same "
      "device file and the loader's ceiling measured here; it has no start of the loader; ^ without the "
      "loader, whose ceiling was not measured.",
      fmt::format("why: settings by which this is another row than the article's; from {:.0f} % of error on, "
                  "what the record shows of its cause.",
                  100 * kArticleMargin)};
  for (const ArticleComparison& one : rows)
    for (const std::string& setting : one.row->record->emulated)  // `cores: each decodes 117.5 images/s`
      if (is_core_rate(setting)) add_once(grid.notes, "Emulated " + one_line(setting) + ".");
  return grid;
}

}  // namespace harness
