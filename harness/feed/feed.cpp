#include "harness/feed/feed.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>

#include "harness/base/failure_text.h"
#include "harness/base/say.h"
#include "harness/config/device_file.h"
#include "harness/feed/emulated_speed.h"
#include "harness/feed/feed_rows.h"
#include "harness/feed/knee_search.h"
#include "harness/report/feed_text.h"
#include "harness/report/results.h"
#include "harness/report/summary/feed_answer.h"
#include "harness/run/run.h"

namespace harness {
namespace {

constexpr double kBatchAtKnee_s = 0.1;   // a batch takes about as long where the loader just keeps up
constexpr double kLongestWindow_s = 15;  // slow devices get fewer batches, but at least kFewestBatches
constexpr int64_t kFewestBatches = 8;
constexpr int64_t kEnoughBatches = 16;    // smaller batches are preferred to fewer ones
constexpr int64_t kImagesPerCore = 900;   // stand-in images, so that large hosts have enough for cold rows
constexpr double kFasterThanLoader = 16;  // the survey's device: so many times the asked ones
constexpr int kSurveys = 4;               // each with a faster device, until the loader limits
constexpr int64_t kSmallestBatch = 16, kLargestBatch = 1024;
constexpr double kShareForSearch = 0.6, kShareForConfirmation = 0.8;  // of the time

class Feed {
 public:
  Feed(const FeedRequest& asked, Execution& execution, FeedRows rows, PrecisionCosts costs)
      : asked_(asked),
        execution_(execution),
        rows_(std::move(rows)),
        costs_(costs),
        line_(0, isatty(STDERR_FILENO)),
        began_(Clock::now()) {}

  void run() {
    const double loader = survey();
    if (loader <= 0) return;
    choose_batch(loader);
    const double device = 1e3 / compute_ms_per_image(costs_);
    Utilisations utilisations([this](double devices) { return measure(devices); }, {});
    deadline_s_ = kShareForSearch * asked_.within_s;
    utilisations.fed(double(asked_.devices));
    const Knee knee = find_knee(utilisations, loader / (utilisations.rule().pass * device));
    deadline_s_ = kShareForConfirmation * asked_.within_s;
    purpose_ = "confirm";
    confirm_whole_number(utilisations, knee);
    deadline_s_ = asked_.within_s;
    // More devices than are fed, so that the loader limits; not many more, or the host could not keep up with
    // their steps.
    const double fed = knee.fed.value_or(knee.not_fed.value_or(1));
    find_what_binds(std::clamp(double(asked_.devices), 2 * fed, 4 * fed));
  }

 private:
  using Clock = std::chrono::steady_clock;

  // The loader's images per second, from a device that it can't feed; 0 without a figure.
  double survey() {
    deadline_s_ = asked_.within_s;
    double devices = double(asked_.devices) * kFasterThanLoader, rate = 0;
    Row row = rows_.asked;
    row.timed_batches = std::min(row.timed_batches, kEnoughBatches);
    for (int i = 0; i < kSurveys; ++i, devices *= kFasterThanLoader) {
      const auto record = run_once(devices, "survey", row, "");
      if (!record) return rate;
      rate = delivered_images_per_second(*record).value_or(0);
      if (device_utilisation(*record).value_or(0) < kFedFrom) break;
    }
    return rate;
  }

  void choose_batch(double loader) {
    const double wanted = loader * kBatchAtKnee_s;
    const auto batch = int64_t(std::exp2(std::round(std::log2(std::max(1.0, wanted)))));
    Row& row = rows_.asked;
    row.batch = std::clamp(batch, kSmallestBatch, kLargestBatch);
    while (row.batch > kSmallestBatch && most_batches(row) < kEnoughBatches) row.batch /= 2;
    for (Row& changed : rows_.changed) changed.batch = row.batch;
  }

  // Timed batches for which a cold row needn't read an image twice.
  int64_t most_batches(const Row& row) const {
    if (row.cache != "cold" || images_ == 0) return row.timed_batches;
    Row of_one_batch = row;
    of_one_batch.batch = 1;
    return images_ / row.batch - (images_read(of_one_batch) - row.timed_batches);
  }

  std::optional<double> measure(double devices) {
    const auto record = run_once(devices, purpose_, rows_.asked, "");
    return record ? device_utilisation(*record) : std::nullopt;
  }

  void find_what_binds(double devices) {
    std::vector<Row> runs = rows_.changed;
    runs.push_back(runs.front());  // unchanged, before and after the others
    for (Row row : runs) {
      // The devices are faster here: with longer steps the host still keeps up with its virtual clock.
      if (row.batch < kLargestBatch) row.batch *= 2;
      run_once(devices, row.id, row, "");
    }
    for (const auto& [row, why] : rows_.refused) run_once(devices, row.id, row, why);
  }

  // Nullopt after Ctrl-C, when the time is used up, or when the run has no figure.
  std::optional<Record> run_once(double devices, const std::string& purpose, Row row,
                                 const std::string& why_not) {
    const double elapsed_s = std::chrono::duration<double>(Clock::now() - began_).count();
    if (ended_ || (elapsed_s >= deadline_s_ && why_not.empty())) return std::nullopt;
    const std::string kind = row.id;
    row.id = fmt::format("{}-{:.4g}", purpose, devices);
    row.title =
        fmt::format("{:.4g} x {}{}", devices, row.device_file, purpose == kind ? ", " + row.title : "");
    row.time_scale = time_scale_for(devices, costs_, row, execution_.scale().batch_divisor);
    const double step_s = double(row.batch) * compute_ms_per_image(costs_) / devices * 1e-3;
    const int64_t most = std::min(most_batches(row), int64_t(kLongestWindow_s / step_s));
    row.timed_batches = std::min(row.timed_batches, std::max(kFewestBatches, most));
    PlannedRow planned{row, why_not, {}};
    for (const PlannedRow& other : execution_.plan())
      if (other.row.id == kind) planned.skip_reason = other.skip_reason, planned.notes = other.notes;
    if (!why_not.empty()) planned.skip_reason = why_not;
    const Record* record = run_planned(planned, {devices, asked_.devices, purpose});
    // Most likely the check `lag` on a machine that something else disturbed for a moment.
    if (record && record->status == "INVALID") record = run_planned(planned, *record->feed);
    if (!record || !is_ok(*record)) return std::nullopt;
    images_ = record->data.images.value_or(0);
    return *record;
  }

  // The record, which is valid until the next run; null after Ctrl-C.
  const Record* run_planned(const PlannedRow& planned, RecordFeed feed) {
    ended_ = !execution_.run(planned, repeats_[planned.row.id]++, line_, {.feed = feed});
    if (ended_) return nullptr;
    const Record& record = execution_.records().back();
    if (const auto utilisation = device_utilisation(record); utilisation && is_ok(record))
      base::say("      utilisation of {:.4g} devices: {:.1f} %\n", feed.devices, 100 * *utilisation);
    return &record;
  }

  const FeedRequest& asked_;
  Execution& execution_;
  FeedRows rows_;
  const PrecisionCosts costs_;
  LiveLine line_;
  const Clock::time_point began_;
  double deadline_s_ = 0;
  std::string purpose_ = "search";  // of the runs that measure utilisation
  bool ended_ = false;
  int64_t images_ = 0;                      // of the data set; 0 before the first run
  std::map<std::string, int64_t> repeats_;  // runs by row id
};

int exit_code(const Records& records, const std::optional<FeedAnswer>& answer) {
  const int code = exit_code_of(records);
  if (code == base::kInterrupted) return code;
  if (answer && answer->asked_is_fed) return *answer->asked_is_fed ? base::kAllGood : base::kRegression;
  return code == base::kRowFailed ? code : int(base::kNothingRan);
}

}  // namespace

int run_feed(const Installation& installation, Request request, const FeedRequest& feed,
             std::ostream& console) {
  const std::string prefix = "emulated:";
  request.device = feed.device.rfind(prefix, 0) == 0 ? feed.device : prefix + feed.device;
  request.configs = {installation.project / "configs" / "feed.yaml"};
  request.scale = "feed";
  request.launcher = "local";
  const AxisValues values = ask_values(installation);
  FeedRows rows;
  PrecisionCosts costs;
  const auto execution = Execution::prepare(installation, request, values, [&](Selection& selection) {
    rows = feed_rows(selection.rows.front(), feed, request, selection.scale, values);
    const EmulatedDevice& device = selection.device_files.at(rows.asked.device_file);
    require_times(device, device_file(installation.project, rows.asked.device_file), rows.asked);
    costs = *find_costs(device, rows.asked.model, rows.asked.precision);
    const int64_t images = kImagesPerCore * rows.asked.cpus;
    if (rows.asked.cache == "cold") selection.scale.images = std::max(selection.scale.images, images);
    selection.rows = {rows.asked};
    selection.rows.insert(selection.rows.end(), rows.changed.begin(), rows.changed.end());
  });
  if (!execution) return base::kInterrupted;
  console << "records: " << execution->records_file().string() << std::endl;
  bool lost = false;
  try {
    Feed(feed, *execution, rows, costs).run();
    write_results(installation.project, execution->folder(), execution->records(), console);
  } catch (const std::exception& error) {  // most likely a full disk: still show what was measured
    fmt::print(std::cerr, "run_matrix: {}\n", base::failure_text(error));
    lost = true;
  }
  const auto answer = feed_answer(pointers_to(execution->records()));
  if (answer) console << feed_text(*answer);
  const int code = exit_code(execution->records(), answer);
  return lost && code != base::kInterrupted ? int(base::kRowFailed) : code;
}

}  // namespace harness
