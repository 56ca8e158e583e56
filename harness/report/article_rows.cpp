// Formats single cells: a row's figure, and its ratio to the base here and in the article.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/base/comma_list.h"
#include "harness/report/article_tables.h"
#include "harness/report/metrics.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

bool is_among(const std::vector<std::string>& ids, const std::string& id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace

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
  const SummaryRow* base = article_row(summary, row.config.base);
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

const SummaryRow* article_row(const Summary& summary, const std::string& id) {
  for (const SummaryRow& row : summary.rows)
    if (row.id == id && row.config.identity != "own") return &row;
  return nullptr;
}

std::vector<const SummaryRow*> article_rows(const Summary& summary, const std::vector<std::string>& ids) {
  std::vector<const SummaryRow*> rows;
  for (const std::string& id : ids)
    if (const SummaryRow* row = article_row(summary, id)) rows.push_back(row);
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
