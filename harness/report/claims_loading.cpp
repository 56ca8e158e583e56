// Claims 1, 2, 3 and 17: what storage costs, and what memory instead of it saves.
#include <fmt/format.h>

#include <algorithm>

#include "harness/report/claim_question.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

constexpr double kMostOfTheTime = 2.0 / 3;  // three quarters, less what one run may differ by
constexpr double kIdleDevice = 1.0 / 3;     // a device may work in what loading leaves of the step

constexpr double kTrainingImages = 1281167, kValidationImages = 50000;  // of ImageNet
constexpr double kTmpfsBytes = 160.0 * 1024 * 1024 * 1024;              // mount's size=160G
constexpr double kHalfAPage = 2048;  // a file on tmpfs ends somewhere in its last page of 4096 bytes
constexpr double kFewestImages = 10000;
// Sizes of photographs spread about as widely as their mean, so that the mean of 10,000 is within 2 % of all
// images'; twice that and more, because a folder need not be drawn at random.
constexpr double kSampleAllowance = 0.05;

// What loading costs: waiting for it or, where the record knows the step without a loader, the time it adds.
Ratio loading_share(const SummaryRow& row) {
  std::vector<double> shares;
  for (size_t i = 0; i < row.runs.size(); ++i) {
    const RunStatistics& run = row.runs[i];
    if (!run.has_samples || run.mean_ms <= 0) return {};
    const double alone = row.records[i]->ceilings.value_or(RecordCeilings()).compute_ms.value_or(run.mean_ms);
    shares.push_back(std::max(phases_ms(run, {"load"}) / run.mean_ms, 1 - alone / run.mean_ms));
  }
  return share_of(shares);
}

Finding loading_is_most(const ClaimRows& rows) {
  const SummaryRow& disk = rows["disk"];
  Finding finding = judged({{"share of the step that goes to loading", loading_share(disk), kMostOfTheTime,
                             kNoLimit, Unit::percent}});
  // On shared cores loading also slows what computes: its waits alone are then only its least share.
  const bool least_only = !disk.record->ceilings;
  if (const auto shared = own_cores("disk")(rows);
      shared && least_only && finding.verdict != ClaimVerdict::holds)
    return cannot_be_tested(
        fmt::format("{:.1f} % of the step is spent waiting, but {}; ceiling_batches above 0 "
                    "measures what loading costs then",
                    100 * wait_share(disk).value, shared->reason));
  if (!rows.summary().mark.empty())
    finding.reason += "; at sizes chosen so that loading and computing weigh alike";
  finding.reason += cold_caveat(disk);
  return finding;
}

Finding device_is_idle(const ClaimRows& rows) {
  const Phases all = {"h2d", "forward", "loss", "backward", "step"};
  Finding finding = judged(
      {{"device time / time of the step", work_share(rows["disk"], all), 0, kIdleDevice, Unit::percent}});
  finding.reason += "; the processor's use is in no record";
  return finding;
}

// Two storages can't be told apart where no row waits for either.
std::optional<Finding> nothing_waits(const SummaryRow& one, const SummaryRow& other) {
  const Ratio here = wait_share(one), there = wait_share(other);
  if (!here.below(kVisibleShare) || !there.below(kVisibleShare)) return std::nullopt;
  return cannot_be_tested(fmt::format(
      "neither row waits for its storage: {:.0f} and {:.0f} % of the step, so its speed can't show",
      100 * here.value, 100 * there.value));
}

Finding lmdb_in_order_is_fast(const ClaimRows& rows) {
  const SummaryRow &files = rows["disk-in-order"], &lmdb = rows["lmdb"];
  if (const auto finding = nothing_waits(files, lmdb)) return *finding;
  Finding finding = judged({{"time of files in order / LMDB", total_ratio(files, lmdb), 1}});
  finding.reason += cold_caveat(lmdb);
  return finding;
}

Finding shuffling_slows_lmdb(const ClaimRows& rows) {
  const SummaryRow &ordered = rows["lmdb"], &shuffled = rows["lmdb-shuffled"];
  if (const auto finding = nothing_waits(ordered, shuffled)) return *finding;
  Finding finding = judged({{"time of LMDB shuffled / in order", total_ratio(shuffled, ordered), 1}});
  finding.reason += cold_caveat(shuffled);
  return finding;
}

Finding tmpfs_removes_loading(const ClaimRows& rows) {
  const Ratio before = wait_share(rows["disk"]);
  if (before.below(kVisibleShare))
    return cannot_be_tested(fmt::format("nothing to remove: from disk, waiting is {:.1f} % of the step{}",
                                        100 * before.value, cold_caveat(rows["disk"])));
  return judged({{"share of the step spent waiting for images", wait_share(rows["tmpfs"]), 0, kVisibleShare,
                  Unit::percent}});
}

Finding computing_is_unchanged(const ClaimRows& rows) {
  return judged({{"forward and backward per batch, disk / tmpfs",
                  work_ratio(rows["disk"], rows["tmpfs"], compute_phases()), 1 - kSame, 1 + kSame}});
}

const RecordData* data_of(const Summary& summary) {
  for (const SummaryRow& row : summary.rows)
    if (row.record->data.bytes.value_or(0) > 0) return &row.record->data;
  return nullptr;
}

Finding imagenet_fits(const ClaimRows& rows) {
  const RecordData* data = data_of(rows.summary());
  if (!data) return cannot_be_tested("the records don't say what images they are of");
  if (data->kind != "folder")
    return cannot_be_tested(fmt::format(
        "the images are of kind {} and say nothing of ImageNet's size; --data DIR takes real ones",
        data->kind));
  const double images = double(data->images.value_or(0)), bytes = double(data->bytes.value_or(0));
  const int64_t classes = data->classes.value_or(0);
  if (classes != 1000 || images < kFewestImages)
    return cannot_be_tested(
        fmt::format("{:.0f} images of {} classes are no sample of ImageNet's 1000 classes", images, classes));
  const double mean = bytes / images + kHalfAPage, spread = images < kTrainingImages ? kSampleAllowance : 0;
  const double needs = mean * (kTrainingImages + kValidationImages) / kTmpfsBytes;
  Finding finding = judged({{"of 160 GiB",
                             {needs, needs * (1 - spread), needs * (1 + spread), kFewestRuns},
                             0,
                             1,
                             Unit::percent}});
  finding.reason =
      fmt::format("{:.0f} bytes of tmpfs per image x {:.0f} images, if the folder is ImageNet; {}", mean,
                  kTrainingImages + kValidationImages, finding.reason);
  return finding;
}

}  // namespace

std::vector<Question> loading_questions() {
  return {
      {1, "From disk, three quarters of the time goes to loading", {"disk"}, {cold("disk")}, loading_is_most},
      {1,
       "Meanwhile the GPU is all but idle",
       {"disk"},
       {cold("disk"), separate_device("disk", "it decodes images while it waits for them")},
       device_is_idle},
      {2,
       "LMDB read in key order is fast: faster than files in order",
       {"disk-in-order", "lmdb"},
       {cold("disk-in-order"), cold("lmdb"), only_differ_in("disk-in-order", "lmdb", {"storage"})},
       lmdb_in_order_is_fast},
      {2,
       "LMDB gets slower when shuffled",
       {"lmdb", "lmdb-shuffled"},
       {cold("lmdb"), cold("lmdb-shuffled"), only_differ_in("lmdb", "lmdb-shuffled", {"order"})},
       shuffling_slows_lmdb},
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
       computing_is_unchanged},
      {17, "A tmpfs of size=160G holds all of ImageNet's images", {}, {}, imagenet_fits},
  };
}

}  // namespace harness
