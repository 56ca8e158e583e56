// net: rows on emulated devices whose times are compared with one another: two time scales, prefetched
// copies.
#include <gtest/gtest.h>

#include "harness/stats/full_size.h"
#include "tests/support/emulated_rows.h"

namespace harness::emulated_times_test {
namespace {

using EmulatedTimes = EmulatedRows;

// The tables show the article's seconds, whatever a machine needed: rows and machines stay comparable.
TEST_F(EmulatedTimes, AgreeWithThemselvesAtTwoTimeScales) {
  std::map<std::string, double> seconds;
  for (const std::string scale : {"16", "48"}) {
    const Records records =
        rows("0,10,12", {"timed_batches=6", "warmup_batches=2", "time_scale=" + scale}, scale);
    for (const Record& record : at_full_size(records))
      seconds[record.row + " at " + scale] = record.total_s.value();
  }
  EXPECT_NEAR(seconds["0 at 16"], 6 * 512 * (0.28760 + 0.70383 + 27.3 / 512) / 1000, 0.15)
      << "the device file's";
  for (const std::string row : {"0", "10", "12"})
    EXPECT_NEAR(seconds[row + " at 16"] / seconds[row + " at 48"], 1, 0.03) << row;
}

TEST_F(EmulatedTimes, PrefetchedCopiesOverlapWithComputing) {
  const auto step_ms = [&](const std::string& prefetch) {
    const Records records = rows(
        "0",
        {"timed_batches=10", "warmup_batches=2", "prefetch=" + prefetch, "loss_every=1", "time_scale=16"},
        prefetch);
    double sum = 0;
    for (const auto& [phase, ms] : records.at(0).device_ms) sum += mean_ms(records[0], phase);
    return sum;
  };
  // 27.3 ms of copies in the article's step, times 16 / 32; the loss is read in each batch, so that a copy
  // can overlap with the backward pass before it.
  EXPECT_NEAR(step_ms("false") - step_ms("true"), 27.3 / 2, 1.5);
}

}  // namespace
}  // namespace harness::emulated_times_test
