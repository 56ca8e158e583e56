// Claims 1, 3 and 17: the cost of storage, and the gain from keeping the data in memory.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/report/claim_question.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

constexpr double kMostOfTheTime = 2.0 / 3;  // the article's three quarters, with a tolerance
constexpr double kIdleDevice = 1.0 / 3;     // the rest of the step; of the processor, too

constexpr double kTrainingImages = 1281167, kValidationImages = 50000;  // of ImageNet
constexpr double kTmpfsBytes = 160.0 * 1024 * 1024 * 1024;  // size=160G: mount's G is GiB, 171.8e9 bytes
constexpr double kHalfAPage = 2048;  // the mean unused rest of a file's last page of 4096 bytes
constexpr double kFewestImages = 10000;
// The standard deviation of photographs' sizes is about their mean, so the mean of 10,000 images is within
// 2 % of that of all. The allowance is larger because a folder need not be a random sample.
constexpr double kSampleAllowance = 0.05;

// The share of the step that loading costs: the wait for batches or, if the record has the step's time
// without a loader and this is more, the time that loading adds.
std::vector<double> loading_shares(const SummaryRow& row) {
  std::vector<double> shares;
  for (size_t i = 0; i < row.runs.size(); ++i) {
    const RunStatistics& run = row.runs[i];
    if (!run.has_samples || run.mean_ms <= 0) return {};
    const double alone = row.records[i]->ceilings.value_or(RecordCeilings()).compute_ms.value_or(run.mean_ms);
    shares.push_back(std::max(phases_ms(run, {"load"}) / run.mean_ms, 1 - alone / run.mean_ms));
  }
  return shares;
}

// The share of loading in a rehearsal says what sizes were chosen, whichever way it comes out.
Finding by_chosen_sizes(Finding finding) {
  if (finding.verdict == ClaimVerdict::holds || finding.verdict == ClaimVerdict::does_not_hold)
    finding.verdict = ClaimVerdict::by_construction;
  finding.reason +=
      "; follows from the rehearsal's sizes, chosen so that loading and computing take about equally long";
  return finding;
}

Finding loading_is_most(const ClaimRows& rows) {
  const SummaryRow& disk = rows["disk"];
  Finding finding = judged({{"cost of loading, share of the step", rows.share(loading_shares, "disk"),
                             kMostOfTheTime, kNoLimit, Unit::percent}});
  // On shared cores, loading also slows down computing, so the waits alone are only a lower bound.
  const bool least_only = !disk.record->ceilings;
  if (const auto shared = own_cores("disk")(rows);
      shared && least_only && finding.verdict != ClaimVerdict::holds)
    return cannot_be_tested(
        fmt::format("{:.1f} % of the step is spent waiting, but {}; with ceiling_batches above 0, the cost "
                    "of loading is measured",
                    100 * rows.share(wait_shares(), "disk").value, shared->reason));
  if (rows.summary().scale == "rehearsal") finding = by_chosen_sizes(std::move(finding));
  finding.reason += cold_caveat(disk);
  return finding;
}

Finding device_is_idle(const ClaimRows& rows) {
  return judged({{kKernelsTimed, rows.share(kernel_shares(), "disk"), 0, kIdleDevice, Unit::percent}});
}

std::vector<double> processor_shares(const SummaryRow& row) {
  std::vector<double> shares;
  for (const Record* record : row.records)
    if (const auto share = record->environment.window_busy_share) shares.push_back(*share);
  return shares.size() == row.records.size() ? shares : std::vector<double>();
}

Finding processor_is_idle(const ClaimRows& rows) {
  return judged({{"share of the time of the row's cores in which they ran something",
                  rows.share(processor_shares, "disk"), 0, kIdleDevice, Unit::percent}});
}

Finding tmpfs_removes_loading(const ClaimRows& rows) {
  const Ratio before = rows.share(wait_shares(), "disk");
  if (before.below(kVisibleShare))
    return cannot_be_tested(fmt::format("nothing to remove: from disk, waiting is {:.1f} % of the step{}",
                                        100 * before.value, cold_caveat(rows["disk"])));
  return judged({{"share of the step spent waiting for images", rows.share(wait_shares(), "tmpfs"), 0,
                  kVisibleShare, Unit::percent},
                 {"the same from disk", before, kVisibleShare, kNoLimit, Unit::percent}});
}

Finding computing_is_unchanged(const ClaimRows& rows) {
  return judged({{"forward and backward per batch, disk / tmpfs",
                  rows.ratio(work_ms(compute_phases()), "disk", "tmpfs"), 1 - kSame, 1 + kSame}});
}

Finding kernels_run_continuously(const ClaimRows& rows) {
  return judged(
      {{kKernelsTimed, rows.share(kernel_shares(), "tmpfs"), kAlmostContinuous, kNoLimit, Unit::percent}});
}

const RecordData* data_of(const Summary& summary) {
  for (const SummaryRow& row : summary.rows)
    if (row.record->data.bytes.value_or(0) > 0) return &row.record->data;
  return nullptr;
}

Finding imagenet_fits(const ClaimRows& rows) {
  const RecordData* data = data_of(rows.summary());
  if (!data) return cannot_be_tested("the records don't describe the images");
  if (data->kind != "folder")
    return cannot_be_tested(fmt::format(
        "images of kind {} say nothing about ImageNet's size; --data DIR uses real images", data->kind));
  const double images = double(data->images.value_or(0)), bytes = double(data->bytes.value_or(0));
  const int64_t classes = data->classes.value_or(0);
  if (classes != 1000 || images < kFewestImages)
    return cannot_be_tested(
        fmt::format("{:.0f} images of {} classes are not a sample of ImageNet's 1000 classes (at least "
                    "{:.0f} images)",
                    images, classes, kFewestImages));
  const double mean = bytes / images + kHalfAPage, spread = images < kTrainingImages ? kSampleAllowance : 0;
  const double needs = mean * (kTrainingImages + kValidationImages) / kTmpfsBytes;
  Finding finding = judged({{"of 160 GiB = 171.8e9 bytes",
                             {needs, needs * (1 - spread), needs * (1 + spread), kFewestRuns, {}},
                             0,
                             1,
                             Unit::percent}});
  finding.reason = fmt::format(
      "{:.0f} bytes of tmpfs per image x ({:.0f} training + {:.0f} validation images), if the "
      "folder is ImageNet; {}",
      mean, kTrainingImages, kValidationImages, finding.reason);
  return finding;
}

}  // namespace

std::vector<Question> loading_questions() {
  return {
      {1, "From disk, three quarters of the time goes to loading", {"disk"}, {cold("disk")}, loading_is_most},
      {1,
       "Meanwhile the GPU is almost idle",
       {"disk"},
       {cold("disk"), separate_device("disk", "it also decodes the images")},
       device_is_idle},
      {1,
       "Meanwhile the CPU is almost idle too",
       {"disk"},
       {cold("disk"), separate_device("disk", "it computes, too")},
       processor_is_idle,
       AnswerFrom::core_rate},
      {3,
       "tmpfs removes the loading time",
       {"disk", "tmpfs"},
       {cold("disk"), only_differ_in("disk", "tmpfs", {"storage", "cache"})},
       tmpfs_removes_loading},
      {3,
       "Computing a batch takes as long as before",
       {"disk", "tmpfs"},
       {cold("disk"), only_differ_in("disk", "tmpfs", {"storage", "cache"}), own_cores("disk"),
        own_cores("tmpfs")},
       computing_is_unchanged,
       AnswerFrom::device_file},
      {3,
       "On tmpfs, kernels run almost continuously",
       {"tmpfs"},
       {separate_device("tmpfs", kKernelsUntimed), own_cores("tmpfs")},
       kernels_run_continuously,
       AnswerFrom::device_file},
      {17,
       "A tmpfs of size=160G holds all of ImageNet's images, training and validation",
       {},
       {},
       imagenet_fits},
  };
}

}  // namespace harness
