#include "harness/report/article_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/base/comma_list.h"
#include "harness/contract/published_ms.h"
#include "harness/report/against_article.h"
#include "harness/stats/records.h"

namespace harness {

std::string setting_of(const SummaryRow& row, const std::string& field) {
  return field_text(row.config, field);
}

const SummaryRow* article_row(const Summary& summary, const std::string& id) {
  for (const SummaryRow& row : summary.rows)
    if (row.id == id && row.config.identity != "own") return &row;
  return nullptr;
}

bool any_article_row(const Summary& summary, const std::vector<std::string>& ids) {
  return std::any_of(ids.begin(), ids.end(),
                     [&](const std::string& id) { return article_row(summary, id) != nullptr; });
}

const SummaryRow* comparable_base(const Summary& summary, const SummaryRow& row) {
  if (!row.ratio || row.window_differs) return nullptr;
  return article_row(summary, setting_of(row, "base"));
}

std::string row_mark(const SummaryRow& row) {
  const bool inferred = setting_of(row, "identity").find("inferred") != std::string::npos;
  return row.id + (inferred ? "~" : "") + (row.ok() && !row.record->emulated.empty() ? " E" : "");
}

bool is_inferred(const SummaryRow& row, const std::string& field) {
  const std::vector<std::string> fields = base::split_at_commas(setting_of(row, "inferred"));
  return std::find(fields.begin(), fields.end(), field) != fields.end();
}

std::string inferred_mark(const SummaryRow& row, const std::string& field) {
  return is_inferred(row, field) ? "~" : "";
}

std::string article_number(double value) {
  if (value == 0) return "-";
  return fmt::format("{:.{}f}", value, value < 10 ? 2 : value < 1000 ? 1 : 0);
}

double published_phase_ms(const SummaryRow& row, const std::string& phase) {
  const PublishedMs figures = published_ms(setting_of(row, "published_ms"));
  auto figure = figures.end();
  if (row.record->device.kind == "cuda") figure = figures.find(phase + "_launch");
  if (figure == figures.end()) figure = figures.find(phase);
  return figure == figures.end() ? 0 : figure->second;
}

std::function<Reading(const SummaryRow&)> reading_of(std::function<double(const SummaryRow&)> figure) {
  return [figure](const SummaryRow& row) { return Reading{if_any(figure(row)), {}, {}, {}}; };
}

Reading reading_of(const Ratio& ratio, double article) {
  if (!ratio.known()) return {{}, {}, {}, if_any(article)};
  if (ratio.runs == 1 && !ratio.pooled) return {ratio.value, {}, {}, if_any(article)};
  return {ratio.value, ratio.low, ratio.high, if_any(article)};
}

ArticleColumn title_column() {
  ArticleColumn column{
      {"what", true, true}, [](const SummaryRow& row) { return row.title; }, ArticleColumn::Of::config};
  column.quantity = "title";
  return column;
}

ArticleColumn total_column() {
  ArticleColumn column{{"total s"},
                       [](const SummaryRow& row) { return article_number(row.total_s); },
                       ArticleColumn::Of::total};
  column.quantity = "total";
  column.unit = "s";
  column.reading = [](const SummaryRow& row) {
    Reading reading{if_any(row.total_s), {}, {}, if_any(row.config.published_s)};
    if (row.repeats_ok > 1) reading.low = row.total_min_s, reading.high = row.total_max_s;
    return reading;
  };
  return column;
}

ArticleColumn text_column(const std::string& header, std::function<std::string(const SummaryRow&)> cell) {
  return {{header, true}, std::move(cell)};
}

ArticleColumn config_column(const std::string& header, const std::string& field, const std::string& unit) {
  ArticleColumn column{
      {header},
      [field](const SummaryRow& row) { return setting_of(row, field) + inferred_mark(row, field); },
      ArticleColumn::Of::config};
  column.quantity = field;
  column.unit = unit;
  if (unit != "text")
    column.reading = reading_of([field](const SummaryRow& row) { return field_number(row.config, field); });
  return column;
}

ArticleColumn figure_column(const std::string& header, const std::string& quantity, const std::string& unit,
                            std::function<double(const SummaryRow&)> figure) {
  ArticleColumn column{{header}, [figure](const SummaryRow& row) { return article_number(figure(row)); }};
  column.quantity = quantity;
  column.unit = unit;
  column.reading = reading_of(figure);
  return column;
}

ArticleColumn phase_column(const std::string& header, const std::vector<std::string>& phases) {
  const auto figure = [phases](const SummaryRow& row) { return phases_ms(row.run, phases); };
  ArticleColumn column = figure_column(header, fmt::format("{}", fmt::join(phases, " + ")), "ms", figure);
  if (phases.size() == 1)
    column.reading = [figure, phase = phases.front()](const SummaryRow& row) {
      return Reading{if_any(figure(row)), {}, {}, if_any(published_phase_ms(row, phase))};
    };
  return column;
}

std::vector<ArticleColumn> ratio_columns(const Summary& summary, const std::vector<std::string>& ids,
                                         const std::vector<std::string>& equal) {
  // Null if the base is in another table.
  const auto base_of = [&summary, ids](const SummaryRow& row) -> const SummaryRow* {
    const bool here = std::find(ids.begin(), ids.end(), setting_of(row, "base")) != ids.end();
    return here ? comparable_base(summary, row) : nullptr;
  };
  const auto ratio = [&summary, base_of](const SummaryRow& row) -> std::string {
    const SummaryRow* base = base_of(row);
    return base ? text_of(total_ratio(summary, *base, row)) + (row.batch_differs ? "*" : "") : "-";
  };
  const auto base_id = [base_of](const SummaryRow& row) -> std::string {
    const SummaryRow* base = base_of(row);
    return base ? base->id : "-";
  };
  const auto published_here = [ids](const SummaryRow& row) -> std::optional<double> {
    const bool here = std::find(ids.begin(), ids.end(), setting_of(row, "base")) != ids.end();
    return here ? row.published_ratio : std::nullopt;
  };
  const auto published = [&summary, published_here](const SummaryRow& row) -> std::string {
    if (!published_here(row)) return "-";
    const SummaryRow* base = article_row(summary, setting_of(row, "base"));
    const bool inferred = is_inferred(row, "published_s") || (base && is_inferred(*base, "published_s"));
    return fmt::format("{:.2f}{}", *row.published_ratio, inferred ? "~" : "");
  };
  const auto verdict = [&summary, base_of, equal](const SummaryRow& row) -> std::string {
    const SummaryRow* base = base_of(row);
    if (!base) return "-";
    if (is_by_construction(*row.record) || is_by_construction(*base->record)) return "by construction";
    const Ratio here = total_ratio(summary, *base, row);
    if (std::find(equal.begin(), equal.end(), row.id) != equal.end()) return against_equal(here);
    return row.published_ratio ? against_article(here, *row.published_ratio) : "-";
  };
  std::vector<ArticleColumn> columns;
  const auto add = [&](GridColumn column, std::function<std::string(const SummaryRow&)> cell) {
    columns.push_back({std::move(column), std::move(cell), ArticleColumn::Of::run, true});
  };
  add({"base / row"}, ratio);
  columns.back().unit = "ratio";
  columns.back().reading = [&summary, base_of, published_here](const SummaryRow& row) {
    const SummaryRow* base = base_of(row);
    return reading_of(base ? total_ratio(summary, *base, row) : Ratio(), published_here(row).value_or(0));
  };
  add({"base", true}, base_id);
  add({"article"}, published);
  columns.back().only_read = true;
  add({"against the article", true}, verdict);
  return columns;
}

std::vector<ArticleColumn> joined(std::vector<ArticleColumn> first, const std::vector<ArticleColumn>& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

}  // namespace harness
