// Brings rows to the article's images/s, or to multiples where they can't be compared with it.
#include "harness/report/summary/rates.h"

#include <algorithm>

#include "harness/report/summary/article_comparison.h"
#include "harness/report/summary/ratio.h"
#include "harness/stats/provenance.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

const SummaryRow& first_of_chain(const Summary& summary, const SummaryRow& row) {
  const SummaryRow* first = &row;
  for (size_t i = 0; i < summary.rows.size(); ++i)  // a chain in a damaged file may be a ring
    if (const SummaryRow* base = base_of(summary, *first)) first = base;
  return *first;
}

std::optional<double> articles_images_per_s(const RowRate& rate) {
  const double seconds = rate.row->config.published_s;
  return seconds > 0 ? std::optional(double(rate.batch) * kArticleBatches / seconds) : std::nullopt;
}

}  // namespace

Rates rates_of(const Summary& summary) {
  Rates rates;
  const bool comparable = summary.scale == "article" || summary.device == "emulated";
  rates.multiples =
      !comparable && std::any_of(summary.rows.begin(), summary.rows.end(),
                                 [](const SummaryRow& row) { return row.published_ratio.has_value(); });
  const std::vector<ArticleComparison> all_beside = article_comparisons(summary);
  for (const SummaryRow& row : summary.rows) {
    const SummaryRow& first = first_of_chain(summary, row);
    RowRate rate{.row = &row, .first = &first, .batch = row.config.batch * row.record->scale.batch_divisor};
    const auto has_rate = [](const SummaryRow& one) { return one.ok() && has_comparable_rate(*one.record); };
    if (has_rate(row) && (!rates.multiples || has_rate(first))) {
      rate.here =
          rates.multiples
              ? total_ratio(summary, first, row).value * double(row.config.batch) / double(first.config.batch)
              : row.images_per_second * (summary.device == "emulated" ? row.config.time_scale : 1);
      rate.low = *rate.here * row.total_s / row.total_max_s;
      rate.high = *rate.here * row.total_s / row.total_min_s;
    }
    if (summary.scale != "smoke") rate.article = articles_images_per_s(rate);
    if (rates.multiples && rate.article) {
      const auto of_first = articles_images_per_s(
          {.row = &first, .batch = first.config.batch * first.record->scale.batch_divisor});
      rate.article = of_first ? std::optional(*rate.article / *of_first) : std::nullopt;
    }
    const auto beside =
        std::find_if(all_beside.begin(), all_beside.end(), [&](const auto& one) { return one.row == &row; });
    rate.by_construction =
        is_by_construction(*row.record) ||
        (beside != all_beside.end() && (beside->loader_rate_is_set || !beside->calibrated_on.empty()));
    rates.rows.push_back(rate);
  }
  return rates;
}

}  // namespace harness
