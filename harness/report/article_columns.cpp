// Finds a table's columns by their names, and formats single cells: a row's figure, and its ratio to the base
// here and in the article.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "harness/base/comma_list.h"
#include "harness/config/nearest.h"
#include "harness/contract/published_ms.h"
#include "harness/report/article_tables.h"
#include "harness/report/metrics.h"
#include "harness/report/summary/device_time.h"
#include "harness/stats/records.h"

namespace harness {

namespace {

std::optional<double> published(const SummaryRow& row, const std::string& name) {
  return if_any(published_ms(row.config.published_ms)[name]);
}

// The article's ms of a phase in this row's batch. The phase clock measures host time, so a CPU is compared
// with the article's kernel times, a GPU with its launch times. The phases of an emulated device are times of
// its own and compared with kernel times.
std::optional<double> published_phase_ms(const SummaryRow& row, const std::string& phase) {
  const auto launch = row.record->device.kind == "cuda" ? published(row, phase + "_launch") : std::nullopt;
  return launch ? launch : published(row, phase);
}

ArticleColumn total_column(const Summary& summary) {
  ArticleColumn column{.quantity = "total", .unit = "s", .of = ArticleColumn::Of::total};
  column.reading = [](const SummaryRow& row) {
    Reading reading{if_any(row.total_s), {}, {}, if_any(row.config.published_s)};
    if (row.repeats_ok > 1) reading.low = row.total_min_s, reading.high = row.total_max_s;
    return reading;
  };
  column.ratio = [&summary](const SummaryRow& base, const SummaryRow& row) {
    return total_ratio(summary, base, row);
  };
  return column;
}

ArticleColumn phase_column(const Summary& summary, const Names& phases) {
  ArticleColumn column{.quantity = fmt::format("{}", fmt::join(phases, " + ")), .unit = "ms"};
  column.reading = [phases](const SummaryRow& row) {
    const auto article = phases.size() == 1 ? published_phase_ms(row, phases[0]) : std::nullopt;
    return Reading{if_any(phases_ms(row.run, phases)), {}, {}, article};
  };
  column.ratio = [&summary, phases](const SummaryRow& base, const SummaryRow& row) {
    return ratio_of(summary, ms_in(phases), base, row);
  };
  return column;
}

// Nothing for a record without the device's times, for which the host's alone are those of the phase.
ArticleColumn clock_column(const std::string& phase, const std::string& clock) {
  const bool host = clock == "host";
  return {
      .quantity = phase + " on the " + clock, .unit = "ms", .reading = [=](const SummaryRow& row) {
        const auto device = device_ms(*row.record, {phase}), ms = mean_ms(row.record->samples_ms, {phase});
        return Reading{device && host ? ms : device, {}, {}, published(row, phase + (host ? "_launch" : ""))};
      }};
}

ArticleColumn field_column(const Field& field, bool in_c0) {
  const bool is_text = !field.is_number();
  ArticleColumn column{.quantity = field.name, .of = ArticleColumn::Of::config};
  column.head.may_shrink = column.quantity == "title";
  column.text = [&field, is_text, in_c0](const SummaryRow& row) -> std::string {
    const std::string mark = is_inferred(row, field.name) ? "~" : "";
    const double value = field_number(row.config, field.name), c0 = double(row.record->scale.c0);
    if (is_text) return field_text(row.config, field) + mark;
    if (in_c0 && c0 > 0) return fmt::format("{:.0f} = {:.3g} C0{}", value, value / c0, mark);
    return value == 0 ? "-" : fmt::format("{:.10g}{}", value, mark);
  };
  if (is_text) return column;
  column.unit = *field.unit ? field.unit : "count";
  column.reading = [&field](const SummaryRow& row) {
    return Reading{if_any(field_number(row.config, field.name)), {}, {}, {}};
  };
  return column;
}

ArticleColumn metric_column(const Summary& summary, const Metric& metric, const std::string& unit) {
  const bool in_mb = metric.unit == "bytes" && unit == "MB";
  ArticleColumn column{.quantity = metric.name, .unit = in_mb ? unit : metric.unit};
  if (column.unit.empty()) column.unit = "ratio";
  if (metric.text)
    column.text = [&](const SummaryRow& row) { return metric.text(summary, row); };
  else
    column.reading = [&metric, in_mb](const SummaryRow& row) {
      const std::optional<double> figure = row.ok() ? metric.figure(row) : std::nullopt;
      return Reading{figure && in_mb ? *figure / 1e6 : figure, {}, {}, {}};
    };
  return column;
}

ArticleColumn find_column(const Summary& summary, const TableColumn& written) {
  const std::string name = fmt::format("{}", fmt::join(written.of, " + "));
  if (written.of.size() > 1) return phase_column(summary, written.of);
  if (name == "total") return total_column(summary);
  Names known = {"total"};
  for (const std::string& phase : phase_names()) {
    if (name == phase) return phase_column(summary, {phase});
    for (const char* clock : {"host", "device"})
      if (name == phase + " on the " + clock) return clock_column(phase, clock);
    known.push_back(phase);
  }
  for (const Metric& metric : metrics()) {
    const Field* field = find_field(metric.name);  // a metric may be no more than the field's value
    if (name == metric.name && !(field && metric.description == field->help))
      return metric_column(summary, metric, written.unit);
    known.push_back(metric.name);
  }
  for (const Field& field : fields()) {
    if (name == field.name || (field.in_c0 && name == field.name + std::string(" in C0")))
      return field_column(field, name != field.name);
    known.push_back(field.name);
  }
  throw ConfigError(written.origin, fmt::format("unknown figure in column {}", in_quotes(written.header)),
                    "a phase, a field or a metric", in_quotes(name),
                    nearest(name, known).empty() ? "see `./run_matrix list --metrics` and `--fields`"
                                                 : suggestion(name, known));
}

bool is_among(const std::vector<std::string>& ids, const std::string& id) {
  return std::ranges::find(ids, id) != ids.end();
}

}  // namespace

ArticleColumn column_of(const Summary& summary, const TableColumn& written) {
  ArticleColumn column = find_column(summary, written);
  if (!written.unit.empty() && written.unit != column.unit)
    throw ConfigError(written.origin, fmt::format("unknown unit in column {}", in_quotes(written.header)),
                      column.unit + (column.unit == "bytes" ? " or MB" : ""), in_quotes(written.unit));
  column.head.header = written.header;
  column.head.is_text = column.unit == "text";
  column.optional = written.optional;
  return column;
}

std::string ArticleColumn::cell(const SummaryRow* row) const {
  if (!row || !shows(*row)) return of != Of::total ? "-" : row ? row->status : "not run";
  if (text) return text(*row);
  const double value = reading(*row).value.value_or(0);
  return value > 0 && unit == "images" ? fmt::format("{:g}", value) : article_number(value);
}

BesideBase beside_base(const Summary& summary, const MatrixTable& table, const ArticleColumn& column,
                       const SummaryRow& row) {
  BesideBase found;
  if (!column.ratio || !is_among(table.rows, row.config.base)) return found;
  const SummaryRow* base = find_row(summary, row.config.base);
  if (!base || row.window_differs) return found;
  const auto there = column.reading(*base).article, here = column.reading(row).article;
  if (there && here) found.reading.article = *there / *here;
  if (!row.ok()) return found;
  const bool whole = column.of == ArticleColumn::Of::total;
  const bool inferred = whole && (is_inferred(row, "published_s") || is_inferred(*base, "published_s"));
  if (there && here) found.cells[2] = fmt::format("{:.2f}{}", *there / *here, inferred ? "~" : "");
  if (!row.ratio) return found;
  const Ratio ratio = column.ratio(*base, row);
  if (ratio.known()) found.reading.value = ratio.value;
  if (ratio.runs > 1 || ratio.pooled) found.reading.low = ratio.low, found.reading.high = ratio.high;
  if (ratio.known()) found.cells[0] = text_of(ratio) + (row.batch_differs ? "*" : "");
  found.cells[1] = base->id;
  // Of an emulated storage or link, only what depends on waiting for it follows from a setting.
  if ((whole || column.quantity == "load") &&
      (is_by_construction(*row.record) || is_by_construction(*base->record)))
    found.cells[3] = "by construction";
  else if (is_among(table.equal, row.id))
    found.cells[3] = against_equal(ratio);
  else
    found.cells[3] = against_article(ratio, found.reading.article.value_or(0));
  return found;
}

std::vector<const SummaryRow*> rows_of(const Summary& summary, const std::vector<std::string>& ids) {
  std::vector<const SummaryRow*> rows;
  for (const std::string& id : ids)
    if (const SummaryRow* row = find_row(summary, id)) rows.push_back(row);
  return rows;
}

std::string row_mark(const SummaryRow& row) {
  const bool inferred = row.config.identity.find("inferred") != std::string::npos;
  return row.id + (inferred ? "~" : "") + (row.ok() && !row.record->emulated.empty() ? " E" : "");
}

bool is_inferred(const SummaryRow& row, const std::string& field) {
  return is_among(base::split_at_commas(row.config.inferred), field);
}

std::string article_number(double value) { return value == 0 ? "-" : four_digits(value); }

std::string against_article(const Ratio& here, double point) {
  if (!here.known() || point <= 0) return "-";
  const Judgement near = judge(here, {point / (1 + kArticleMargin), point / (1 - kArticleMargin)});
  if (near.runs_missing > 0) return "too few runs";
  if (near.verdict != Verdict::does_not_hold) return "reproduced";
  if (std::abs(point - 1) <= kArticleMargin) return "differs";
  const Judgement faster = judge(here, {.low = 1});
  if (!faster.decided()) return "direction unclear";
  return (faster.verdict == Verdict::holds) == (point > 1) ? "same direction" : "other direction";
}

std::string against_equal(const Ratio& here) {
  const Judgement equal = judge(here, {1 - kArticleMargin, 1 + kArticleMargin});
  if (equal.verdict == Verdict::cannot_be_told) return "-";
  if (equal.runs_missing > 0) return "too few runs";
  if (equal.verdict == Verdict::holds) return "same";
  return judge(here, {.low = 1}).decided() ? "differs" : "undecided";
}

}  // namespace harness
