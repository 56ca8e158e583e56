// Takes median and range of top-1 and top-5 over the seeds, and compares with precision O0 seed by seed.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/report/summary/summary.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

OverSeeds over_seeds(const std::vector<double>& values) {
  const auto [low, high] = std::ranges::minmax_element(values);
  return {median(values), *low, *high};
}

bool has_status(const Record& record, const char* status) { return record.status == status; }

bool has_accuracy(const Record& record) {
  return is_ok(record) && record.accuracy && record.accuracy->images > 0;
}

// Sets status and reason of a row without a figure.
void explain(const RecordList& repeats, AccuracyRow& row) {
  const auto first = std::ranges::find_if(repeats, [&](const Record* record) {
    return row.diverged > 0 ? has_status(*record, "DIVERGED") : !has_status(*record, "OK");
  });
  if (first == repeats.end()) {  // a record written by another version
    row.status = "INVALID";
    row.reason = "the record has no accuracy";
    return;
  }
  row.status = (*first)->status;
  row.reason = (*first)->reason;
  if (row.diverged > 0)
    row.reason = fmt::format("{} of {} seeds; {}", row.diverged, repeats.size(), row.reason);
}

void add_figures(const RecordList& measured, AccuracyRow& row) {
  std::vector<double> top1, top5, seconds;
  for (const Record* record : measured) {
    top1.push_back(record->accuracy->top1);
    top5.push_back(record->accuracy->top5);
    seconds.push_back(record->total_s.value_or(0));
  }
  row.seeds = static_cast<int>(measured.size());
  row.top1 = over_seeds(top1);
  row.top5 = over_seeds(top5);
  row.seconds = median(seconds);
  row.kind = measured.front()->accuracy->kind;
  row.classes = measured.front()->accuracy->classes;
  row.validation_images = measured.front()->accuracy->images;
}

AccuracyRow accuracy_row(const RecordList& repeats) {
  const Record& first = *repeats.front();
  AccuracyRow row;
  row.id = first.row;
  row.precision = row.label = first.config.precision;
  row.kind = first.data.kind == "stand-in" || first.data.kind.empty() ? "synthetic" : "real";
  row.budget_images = first.config.batch * (first.config.warmup_batches + first.config.timed_batches);
  RecordList measured;
  for (const Record* record : repeats) {
    if (has_status(*record, "DIVERGED")) ++row.diverged;
    if (has_accuracy(*record)) measured.push_back(record);
    if (const std::string label = record->precision.label; !label.empty()) row.label = label;
  }
  row.status = "OK";
  if (row.diverged > 0 || measured.empty())
    explain(repeats, row);
  else
    add_figures(measured, row);
  return row;
}

// {seed, top-1} of the repeats with a figure.
std::map<int64_t, double> top1_by_seed(const RecordList& repeats) {
  std::map<int64_t, double> by_seed;
  for (const Record* record : repeats)
    if (has_accuracy(*record)) by_seed[record->config.seed] = record->accuracy->top1;
  return by_seed;
}

// A difference is meaningful only for the same validation images and number of training images.
bool comparable(const AccuracyRow& a, const AccuracyRow& b) {
  return a.ok() && b.ok() && a.budget_images == b.budget_images &&
         a.validation_images == b.validation_images && a.kind == b.kind;
}

void compare(AccuracyRow& row, const RecordList& repeats, const RecordList& reference) {
  const auto here = top1_by_seed(repeats), there = top1_by_seed(reference);
  std::vector<double> differences;
  for (const auto& [seed, top1] : here)
    if (const auto pair = there.find(seed); pair != there.end()) differences.push_back(top1 - pair->second);
  if (differences.empty()) return;
  row.paired_seeds = static_cast<int>(differences.size());
  row.less_o0 = over_seeds(differences);
}

// Of several seeds with the range.
std::string in_percent(const OverSeeds& share, int seeds, fmt::format_string<double> form = "{:.1f}") {
  const auto number = [form](double value) { return fmt::format(form, 100 * value); };
  if (seeds < 2) return number(share.median);
  return fmt::format("{} ({} to {})", number(share.median), number(share.low), number(share.high));
}

std::string points(const AccuracyRow& row) {
  return row.paired_seeds == 0 ? "-" : in_percent(row.less_o0, row.paired_seeds, "{:+.1f}");
}

std::string statement(const AccuracyRow& row) {
  if (!row.ok()) return fmt::format("{}: {}: {}", row.label, row.status, one_line(row.reason));
  if (row.precision == "o0" || row.paired_seeds == 0) return "";
  if (row.paired_seeds == 1)
    return fmt::format("{}: {} points from O0 with one seed: the spread is unknown", row.label, points(row));
  const std::string difference =
      fmt::format("{}: {} points from O0 over {} seeds: ", row.label, points(row), row.paired_seeds);
  if (row.less_o0.low <= 0 && row.less_o0.high >= 0)
    return difference + "not more than the spread over seeds";
  return difference + fmt::format("{} with every seed, which happens by chance in 1 of {} cases",
                                  row.less_o0.high < 0 ? "worse" : "better",
                                  int64_t{1} << std::min(row.paired_seeds - 1, 62));
}

}  // namespace

std::vector<AccuracyRow> accuracy_rows(const RecordList& records) {
  const auto groups = by_row(records);
  std::vector<AccuracyRow> rows;
  for (const auto& [id, repeats] : groups) rows.push_back(accuracy_row(repeats));
  const auto o0 = std::ranges::find(rows, "o0", &AccuracyRow::precision);
  if (o0 == rows.end()) return rows;
  const RecordList& of_o0 = groups[size_t(o0 - rows.begin())].second;
  for (size_t i = 0; i < rows.size(); ++i)
    if (&rows[i] != &*o0 && comparable(rows[i], *o0)) compare(rows[i], groups[i].second, of_o0);
  return rows;
}

// The same figures for programs.
static std::vector<GridValue> values_of(const AccuracyRow& row) {
  const auto known = [&](const Reading& reading) { return row.ok() ? reading : Reading(); };
  const auto percent = [&](const OverSeeds& share) {
    return known({100 * share.median, 100 * share.low, 100 * share.high, {}});
  };
  return {{row.id, "status", "text", row.status},
          {row.id, "as run", "text", row.label},
          {row.id, "top-1", "%", "", percent(row.top1)},
          {row.id, "top-5", "%", "", percent(row.top5)},
          {row.id, "top-1 less o0", "points", "", row.paired_seeds > 0 ? percent(row.less_o0) : Reading()},
          {row.id, "seeds", "count", "", known({double(row.seeds), {}, {}, {}})},
          {row.id, "diverged", "count", "", known({double(row.diverged), {}, {}, {}})},
          {row.id, "images trained", "images", "", known({double(row.budget_images), {}, {}, {}})}};
}

Grid accuracy_grid(const Summary& summary, const std::string& title) {
  Grid grid;
  bool synthetic = false;
  std::set<std::string> budgets;
  grid.columns = {{"row", true},       {"precision", true}, {"seeds"},
                  {"top-1 % (range)"}, {"top-5 % (range)"}, {"top-1 less O0, points (range)"},
                  {"training s"}};
  for (const AccuracyRow& row : summary.accuracy) {
    synthetic = synthetic || row.kind == "synthetic";
    for (GridValue& value : values_of(row)) grid.values.push_back(std::move(value));
    if (const std::string text = statement(row); !text.empty()) grid.notes.push_back(text);
    if (!row.ok()) {
      grid.rows.push_back({row.id, row.label,
                           row.diverged > 0 ? fmt::format("{} DIVERGED", row.diverged) : row.status, "-", "-",
                           "-", "-"});
      continue;
    }
    budgets.insert(fmt::format("{} training images, {} validation images, {} {} classes", row.budget_images,
                               row.validation_images, row.classes, row.kind));
    grid.rows.push_back({row.id, row.label, std::to_string(row.seeds), in_percent(row.top1, row.seeds),
                         in_percent(row.top5, row.seeds), points(row), fmt::format("{:.1f}", row.seconds)});
  }
  grid.title = title + (synthetic ? " (synthetic classes: no evidence for claim 4)" : "");
  if (!summary.mark.empty()) grid.above.push_back(fmt::format("{}: {}", summary.mark, summary.scale_summary));
  grid.above.insert(grid.above.end(), budgets.begin(), budgets.end());
  grid.notes.push_back(
      "Medians and ranges over seeds; a seed sets weights, order and augmentation. Differences are between "
      "runs with the same seed. Validation uses centre crops and batch norm's running statistics, in the "
      "row's precision.");
  return grid;
}

}  // namespace harness
