// Converts a row's seconds to the article's scale, lists what differs from the article's row, and brings rows
// to the article's images/s, or to multiples where they can't be compared with it.
#include "harness/report/summary/article_comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/report/summary/ratio.h"
#include "harness/stats/closed_model.h"
#include "harness/stats/provenance.h"
#include "harness/stats/records.h"

namespace harness {

namespace {

constexpr int64_t kArticlePixels = 224;

// Whether a row with another value of this field is another row than the article's. Batches and time scale
// are brought back to the article's.
bool changes_the_row(const std::string& field) {
  return (has_role(field, Role::identity) || has_role(field, Role::sizing)) && field != "time_scale" &&
         field != "device_file" && field != "timed_batches" && field != "warmup_batches";
}

std::string differences_of(const SummaryRow& row) {
  const Record& record = *row.record;
  const bool made_up = record.config.storage == "synthetic";
  std::vector<std::string> parts;
  if (made_up) parts.push_back("made-up batches");
  if (record.config.image_px != kArticlePixels)
    parts.push_back(fmt::format("images of {} px", record.config.image_px));
  for (const std::string& setting : settings_in(record.set)) {
    const std::string field = setting.substr(0, setting.find('='));
    if (changes_the_row(field) && field != "image_px" &&
        !(made_up && (field == "storage" || field == "cache")))
      parts.push_back(setting);
  }
  for (const Flag& flag : row.flags)
    if (flag.code == 'M' || flag.code == 'C') parts.push_back(flag.text);
  for (const std::string& setting : record.emulated)
    if (!is_device_setting(setting)) parts.push_back(setting);
  return fmt::format("{}", fmt::join(parts, "; "));
}

bool loader_rate_is_set(const SummaryRow& row) {
  const bool cores = emulates_cores(row.config) && loader_reaches_its_cores(*row.record);
  if (row.config.read_rate <= 0 && !cores) return false;
  return row.run.mean_ms > 0 && phases_ms(row.run, {"load"}) >= kVisibleShare * row.run.mean_ms;
}

ArticleComparison beside(const SummaryRow& row) {
  ArticleComparison one;
  one.row = &row;
  const Record& record = *row.record;
  if (row.config.published_s > 0) one.article_s = row.config.published_s;
  one.differs = differences_of(row);
  if (record.emulation && !record.emulation->device.calibrated_on.empty()) {
    const auto& rows = record.emulation->device.calibrated_on;
    if (const auto found = rows.find(row.id); found != rows.end()) one.calibrated_on = found->second;
    one.predicted = one.calibrated_on.empty();
  }
  if (!row.ok() || row.run.batches <= 0 || row.config.time_scale <= 0) return one;
  const double factor =
      double(record.scale.batch_divisor) / row.config.time_scale * kArticleBatches / double(row.run.batches);
  one.loader_rate_is_set = loader_rate_is_set(row);
  one.emulated_s = row.total_s * factor;
  one.low_s = row.total_min_s * factor;
  one.high_s = row.total_max_s * factor;
  if (const auto model = closed_model(record)) {
    one.model_s = model->step_ms() * kArticleBatches / 1000;
    one.model_has_load = model->load_ms.has_value();
  }
  return one;
}

const SummaryRow& first_of_chain(const Summary& summary, const SummaryRow& row) {
  const SummaryRow* first = &row;
  for (size_t i = 0; i < summary.rows.size(); ++i)  // a chain in a damaged file may be a ring
    if (const SummaryRow* base = base_of(summary, *first))
      first = base;
    else
      break;
  return *first;
}

std::optional<double> articles_images_per_s(const SummaryRow& row) {
  const double seconds = row.config.published_s;
  const int64_t batch = row.config.batch * row.record->scale.batch_divisor;
  return seconds > 0 ? std::optional(double(batch) * kArticleBatches / seconds) : std::nullopt;
}

}  // namespace

std::optional<double> ArticleComparison::error() const {
  if (!emulated_s || !article_s || !predicted || loader_rate_is_set) return std::nullopt;
  return *emulated_s / *article_s - 1;
}

bool loader_reaches_its_cores(const Record& record) {
  const double loader_ms = record.ceilings.value_or(RecordCeilings()).loader_ms.value_or(0);
  const double images = double(record.config.batch);
  return loader_ms <= 0 || images * 1000 / loader_ms >= 0.9 * loader_images_per_s(record.config);
}

std::vector<ArticleComparison> article_comparisons(const Summary& summary) {
  std::vector<ArticleComparison> rows;
  if (summary.device != "emulated" || summary.scale == "smoke") return rows;
  for (const SummaryRow& row : summary.rows)
    if (row.config.identity != "own") rows.push_back(beside(row));
  return rows;
}

Rates rates_of(const Summary& summary) {
  Rates rates;
  const bool comparable = summary.scale == "article" || summary.device == "emulated";
  // Where a base didn't run, its row would look as fast as the row in which another chain begins.
  rates.multiples = !comparable && std::ranges::any_of(summary.rows, [](const SummaryRow& row) {
    return row.published_ratio.has_value();
  }) && std::ranges::all_of(summary.rows, [&](const SummaryRow& row) {
    return first_of_chain(summary, row).config.base.empty();
  });
  const std::vector<ArticleComparison> all_beside = article_comparisons(summary);
  for (const SummaryRow& row : summary.rows) {
    const SummaryRow& first = first_of_chain(summary, row);
    RowRate rate{.row = &row, .first = &first, .batch = row.config.batch};
    const auto has_rate = [](const SummaryRow& one) { return one.ok() && has_comparable_rate(*one.record); };
    if (has_rate(row) && (!rates.multiples || has_rate(first))) {
      rate.here = rates.multiples ? total_ratio(summary, first, row).value * double(row.config.batch) /
                                        double(first.config.batch)
                                  : row.images_per_second;
      rate.low = *rate.here * row.total_s / row.total_max_s;
      rate.high = *rate.here * row.total_s / row.total_min_s;
    }
    if (summary.scale != "smoke" && (comparable || rates.multiples))
      rate.article = articles_images_per_s(row);
    if (rates.multiples && rate.article) {
      const auto of_first = articles_images_per_s(first);
      rate.article = of_first ? std::optional(*rate.article / *of_first) : std::nullopt;
    }
    const auto beside = std::ranges::find_if(all_beside, [&](const auto& one) { return one.row == &row; });
    rate.by_construction =
        is_by_construction(*row.record) ||
        (beside != all_beside.end() && (beside->loader_rate_is_set || !beside->calibrated_on.empty()));
    rates.rows.push_back(rate);
  }
  return rates;
}

}  // namespace harness
