// Measures the loader alone, then single changes of it, then numbers of devices near the expected one.
#include "harness/feed/feed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/base/say.h"
#include "harness/base/scratch.h"
#include "harness/base/stopwatch.h"
#include "harness/config/device_file.h"
#include "harness/feed/fed_number.h"
#include "harness/plan/probe.h"
#include "harness/report/results.h"
#include "harness/report/summary/feed_answer.h"
#include "harness/run/run.h"

namespace harness {
namespace {

constexpr double kBatchAtKnee_s = 0.1;   // a batch takes about as long where the loader just keeps up
constexpr double kLongestWindow_s = 15;  // slow devices get fewer batches, but at least kFewestBatches
constexpr int64_t kFewestBatches = 8;
constexpr int64_t kEnoughBatches = 16;   // smaller batches are preferred to fewer ones
constexpr int64_t kImagesPerCore = 900;  // stand-in images, so that large hosts have enough for cold rows
constexpr int64_t kSmallestBatch = 16, kLargestBatch = 1024;

class Feed {
 public:
  Feed(const Installation& installation, const FeedRequest& asked, Execution& execution, FeedRows rows,
       EmulatedDevice device)
      : installation_(installation),
        asked_(asked),
        execution_(execution),
        rows_(std::move(rows)),
        device_(std::move(device)),
        costs_(*find_costs(device_, rows_.asked.model, rows_.asked.precision)),
        line_(0) {}

  // What binds comes before the confirmation, which may use up the time.
  void run() {
    Row row = rows_.asked;
    row.timed_batches = std::min(row.timed_batches, kEnoughBatches);
    const auto survey = run_once(kLoaderAlone, "survey", row, "");
    loader_ = survey ? delivered_images_per_second(*survey).value_or(0) : 0;
    if (loader_ <= 0) return;
    if (const std::string why = choose_batch(); !why.empty()) {
      run_once(double(asked_.devices), purpose_, rows_.asked, why);
      return;
    }
    Utilisations utilisations([this](double devices) { return measure(devices); });
    utilisations.fed(double(asked_.devices));
    const double fed = loader_ / (kFedFrom * device_images_per_s(costs_));
    // So many devices that the loader would limit; not many more, or the host could not keep up with them.
    find_what_binds(std::clamp(double(asked_.devices), 2 * fed, 4 * fed));
    purpose_ = "confirm";
    confirm_whole_number(utilisations, fed);
    run_once(kLoaderAlone, "unchanged", rows_.asked, "");  // before and after the others
  }

 private:
  static constexpr double kLoaderAlone = 0;  // devices

  // A batch as long as kBatchAtKnee_s, and what one device's memory holds of it. Returns why it holds none.
  std::string choose_batch() {
    const double wanted = loader_ * kBatchAtKnee_s;
    const auto batch = int64_t(std::exp2(std::round(std::log2(std::max(1.0, wanted)))));
    Row& row = rows_.asked;
    row.batch = std::clamp(batch, kSmallestBatch, kLargestBatch);
    while (row.batch > kSmallestBatch && most_batches(row) < kEnoughBatches) row.batch /= 2;
    for (Row& changed : rows_.changed) changed.batch = row.batch;
    const base::Scratch scratch;
    Job job;
    job.row = row;
    job.emulation = emulation_of_probe(device_, execution_.scale().batch_divisor);
    for (; !probe_memory(installation_, job, scratch.path()); job.row.batch /= 2)
      if (job.row.batch == 1)
        return fmt::format(
            "{} doesn't fit into the {:g} GiB of device {} with {} images, the fewest that are "
            "emulated; name a smaller --model or another device",
            row.model, device_.memory_gib.value, row.device_file, execution_.scale().batch_divisor);
    fits_ = job.row.batch;
    return "";
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
    for (const Row& row : rows_.changed)
      run_once(row.id == "made_up" ? devices : kLoaderAlone, row.id, row, "");
    for (const auto& [row, why] : rows_.refused) run_once(kLoaderAlone, row.id, row, why);
  }

  // The row on a device that is as fast and as large as `devices`, but no smaller than one.
  void emulate(double devices, Row& row) {
    EmulatedDevice device = device_;
    device.memory_gib.value *= std::max(1.0, devices);
    execution_.add_device(row.device_file, device);
    row.batch = std::min(row.batch, int64_t(double(fits_) * std::max(1.0, devices)));
    // The device's time with time_scale 1 is that of the batch times the divisor, divided by it.
    const double images = double(row.batch), divisor = double(execution_.scale().batch_divisor);
    const double wanted_ms = 1e3 * images / (device_images_per_s(costs_) * devices);
    row.time_scale = wanted_ms / (costs_.step_ms(images * divisor) / divisor);
  }

  // Nullopt after Ctrl-C, when the time is used up, or when the run has no figure.
  std::optional<Record> run_once(double devices, const std::string& purpose, Row row,
                                 const std::string& why_not) {
    if (ended_ || (watch_.s() >= asked_.within_s && why_not.empty())) return std::nullopt;
    const std::string kind = row.id;
    const bool alone = devices == kLoaderAlone;
    row.id = alone ? purpose : fmt::format("{}-{:.4g}", purpose, devices);
    row.title =
        fmt::format("{}{}", alone ? "the loader alone" : fmt::format("{:.4g} x {}", devices, row.device_file),
                    purpose == kind ? ", " + row.title : "");
    if (alone)
      row.part = "loading";
    else
      emulate(devices, row);
    const double images_per_s = alone ? loader_ : devices * device_images_per_s(costs_);
    int64_t most = most_batches(row);
    if (images_per_s > 0) most = std::min(most, int64_t(kLongestWindow_s * images_per_s / double(row.batch)));
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
    ended_ = !execution_.run(
        planned, repeats_[planned.row.id]++, line_,
        {.feed = feed, .device_rates = {{planned.row.device_file, device_images_per_s(costs_)}}});
    if (ended_) return nullptr;
    const Record& record = execution_.records().back();
    if (const auto utilisation = device_utilisation(record); utilisation && feed.devices != kLoaderAlone)
      base::say("      utilisation of {:.4g} device{}: {:.1f} %\n", feed.devices,
                feed.devices == 1 ? "" : "s", 100 * *utilisation);
    return &record;
  }

  const Installation& installation_;
  const FeedRequest& asked_;
  Execution& execution_;
  FeedRows rows_;
  const EmulatedDevice device_;
  const PrecisionCosts costs_;
  LiveLine line_;
  const base::Stopwatch watch_;
  std::string purpose_ = "asked";  // of the runs that measure utilisation
  bool ended_ = false;
  double loader_ = 0;                       // images per second, by the survey
  int64_t fits_ = 1;                        // images that one device's memory holds, or the chosen batch
  int64_t images_ = 0;                      // of the data set; 0 before the first run
  std::map<std::string, int64_t> repeats_;  // runs by row id
};

int exit_code(const Records& records, const std::optional<FeedAnswer>& answer) {
  const int code = exit_code_of(records);
  if (code == base::kInterrupted) return code;
  if (answer && answer->missing.empty()) return *answer->asked_is_fed ? base::kAllGood : base::kRegression;
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
  EmulatedDevice emulated;
  const auto execution = Execution::prepare(installation, request, values, [&](Selection& selection) {
    rows = feed_rows(selection.rows.front(), feed, request, selection.scale, values);
    emulated = selection.device_files.at(rows.asked.device_file);
    require_times(emulated, device_file(installation.project, rows.asked.device_file), rows.asked);
    const int64_t images = kImagesPerCore * rows.asked.cpus;
    if (rows.asked.cache == "cold") selection.scale.images = std::max(selection.scale.images, images);
    selection.rows = {rows.asked};
    selection.rows.insert(selection.rows.end(), rows.changed.begin(), rows.changed.end());
  });
  if (!execution) return base::kInterrupted;
  console << "records: " << execution->records_file().string() << std::endl;
  const Records& records = execution->records();
  const bool kept = write_results_of([&] { Feed(installation, feed, *execution, rows, emulated).run(); },
                                     installation.project, execution->folder(), records, console);
  const int code = exit_code(records, feed_answer(pointers_to(records)));
  return kept || code == base::kInterrupted ? code : int(base::kRowFailed);
}

}  // namespace harness
