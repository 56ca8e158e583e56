// Finds the check `trained` and the loss in a row's records, and sums them up in a sentence.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/experiment/policy/policy.h"
#include "harness/report/summary/summary.h"
#include "harness/stats/records.h"
#include "harness/stats/statistics.h"

namespace harness {
namespace {

// The first repeat that says so; repeats are not trained again.
const RecordTraining* training_of(const SummaryRow& row) {
  for (const Record* record : row.records)
    if (record->training) return &*record->training;
  return row.record->training ? &*row.record->training : nullptr;
}

bool has_check(const SummaryRow& row, bool passed) {
  const auto found = [&](const Record* record) {
    return std::ranges::any_of(record->checks, [&](const RecordCheck& check) {
      return check.name == "trained" && check.ok == passed;
    });
  };
  return found(row.record) || std::ranges::any_of(row.records, found);
}

std::string loss_text(const RecordTraining& training) {
  return fmt::format("{:.2f} to {:.2f}", training.first_loss, training.last_loss);
}

}  // namespace

std::string trained_text(const SummaryRow& row) {
  if (!on_emulated_device(*row.record)) return "";
  if (const RecordTraining* training = training_of(row))
    return training->reason.empty() ? loss_text(*training) : "no";
  return has_check(row, true) ? "yes" : has_check(row, false) ? "no" : "";
}

std::string trained_sentence(const Summary& summary) {
  std::vector<std::string> untrained, failed, rising;
  size_t slices = 0;
  int64_t batches = 0;
  bool any = false;
  for (const SummaryRow& row : summary.rows) {
    if (!on_emulated_device(*row.record)) return "";
    const RecordTraining* training = training_of(row);
    any = any || training || has_check(row, true) || has_check(row, false);
    if (!has_check(row, true)) untrained.push_back(row.id);
    if (!training) continue;
    ++slices;
    batches = std::max(batches, training->batches);
    if (!training->reason.empty())
      failed.push_back(row.id);
    else if (!fell({training->first_loss, training->last_loss}, kFallInSlice))
      rising.push_back(row.id);
  }
  if (!any) return "";
  const size_t rows = summary.rows.size(), steps = rows - untrained.size(), good = slices - failed.size();
  const auto but = [](const std::vector<std::string>& ids) {
    return ids.empty() ? "" : fmt::format(" (not in {})", fmt::join(ids, ", "));
  };
  const std::string stepped =
      fmt::format("{} of {} rows trained for real on this processor{}", steps, rows, but(untrained));
  if (slices == 0) return stepped;
  return fmt::format("{}{} of {} rows trained {} batches for real (small network){}; the loss fell in {}{}",
                     good == rows && steps == rows ? "" : stepped + "; ", good, rows, batches, but(failed),
                     good - rising.size(), but(rising));
}

}  // namespace harness
