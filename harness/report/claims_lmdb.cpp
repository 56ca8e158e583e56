// Claim 2: images packed into one file: LMDB in order and shuffled, HDF5.
#include <fmt/format.h>

#include "harness/report/claim_question.h"

namespace harness {
namespace {

constexpr size_t kStartUpBatches = 50;  // the article: kernels are busy `after about 50 batches`

// Two storages can't be compared if neither row waits for its images.
std::optional<Finding> nothing_waits(const ClaimRows& rows) {
  const Ratio here = rows.share(wait_shares(), rows.ids()[0]),
              there = rows.share(wait_shares(), rows.ids()[1]);
  if (!here.below(kVisibleShare) || !there.below(kVisibleShare)) return std::nullopt;
  return cannot_be_tested(fmt::format(
      "neither row waits for its storage ({:.0f} and {:.0f} % of the step), so their speed can't be compared",
      100 * here.value, 100 * there.value));
}

Finding lmdb_in_order_is_fast(const ClaimRows& rows) {
  if (const auto finding = nothing_waits(rows)) return *finding;
  Finding finding =
      judged({{"time of files in order / LMDB", rows.times("disk-in-order", "lmdb"), kVisibly}});
  finding.reason += cold_caveat(rows["lmdb"]);
  return finding;
}

Finding shuffling_slows_lmdb(const ClaimRows& rows) {
  if (const auto finding = nothing_waits(rows)) return *finding;
  Finding finding =
      judged({{"time of LMDB shuffled / in order", rows.times("lmdb-shuffled", "lmdb"), kVisibly}});
  finding.reason += cold_caveat(rows["lmdb-shuffled"]);
  return finding;
}

// The article's `actually becomes slower` names no other row. It comes after the figures of files on disk,
// so these are the natural one.
Finding shuffled_lmdb_is_slower_than_files(const ClaimRows& rows) {
  if (const auto finding = nothing_waits(rows)) return *finding;
  Finding finding =
      judged({{"time of LMDB shuffled / files shuffled", rows.times("lmdb-shuffled", "disk"), kVisibly}});
  finding.reason += cold_caveat(rows["lmdb-shuffled"]);
  return finding;
}

Finding kernels_are_soon_busy(const ClaimRows& rows) {
  Finding finding = judged(
      {{fmt::format("{}, from batch {} on", kKernelsTimed, kStartUpBatches),
        rows.share(kernel_shares(kStartUpBatches), "lmdb"), kAlmostContinuous, kNoLimit, Unit::percent}});
  finding.reason += cold_caveat(rows["lmdb"]);
  return finding;
}

Finding hdf5_is_loaded_whole(const ClaimRows&) {
  return not_measured(
      "no row of this matrix reads HDF5; `./run_matrix configs/formats.yaml --only hdf5,hdf5-whole` reads it "
      "in pieces and whole, and answers it");
}

}  // namespace

std::vector<Question> lmdb_questions() {
  return {
      {2,
       "LMDB read in key order is fast: faster than files in order",
       {"disk-in-order", "lmdb"},
       {cold("disk-in-order"), cold("lmdb"), only_differ_in("disk-in-order", "lmdb", {"storage"})},
       lmdb_in_order_is_fast},
      {2,
       "LMDB gets slower when shuffled: than in order",
       {"lmdb", "lmdb-shuffled"},
       {cold("lmdb"), cold("lmdb-shuffled"), only_differ_in("lmdb", "lmdb-shuffled", {"order"})},
       shuffling_slows_lmdb},
      {2,
       "LMDB gets slower when shuffled: than shuffled files",
       {"disk", "lmdb-shuffled"},
       {cold("disk"), cold("lmdb-shuffled"), only_differ_in("disk", "lmdb-shuffled", {"storage"})},
       shuffled_lmdb_is_slower_than_files},
      {2,
       "With LMDB in order, kernels run almost continuously after about 50 batches",
       {"lmdb"},
       {cold("lmdb"), separate_device("lmdb", kKernelsUntimed), own_cores("lmdb")},
       kernels_are_soon_busy,
       AnswerFrom::core_rate},
      {2, "HDF5, in contrast, has to be loaded whole", {}, {}, hdf5_is_loaded_whole},
  };
}

}  // namespace harness
