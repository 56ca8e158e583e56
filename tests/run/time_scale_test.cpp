// unit: how much the time of emulated devices is stretched on a machine, and whether the machine kept up.
#include "harness/run/time_scale.h"

#include <gtest/gtest.h>

#include "tests/support/emulated_records.h"

namespace harness::time_scale_test {
namespace {

// As planned on a machine with two cores: with the article's emulated cores and disk.
Record planned(const std::string& id) {
  Record record = typed(emulated_records::emulated(id, 100));
  static const Matrix matrix = article("emulated");
  record.config.core_images_per_s = row_of(matrix.rows, id).core_images_per_s;
  record.config.read_rate = row_of(matrix.rows, id).read_rate;
  record.machine.cores = 2;
  record.data.images.reset();
  return record;
}

TEST(TimeScale, AsksForTheSlowestOfDevicesEmulatedCoresAndStorage) {
  // tmpfs: 256 images in 13.6 ms of copy, 253.8 ms of kernels and 1.8 ms of the optimizer.
  EXPECT_NEAR(demand_of(planned("tmpfs"), 800).images_per_s, 256 / 0.2692, 2);
  EXPECT_NEAR(demand_of(planned("disk"), 800).images_per_s, 26.92e6 / 115533, 0.1) << "the disk's rate";
  EXPECT_NEAR(demand_of(planned("7"), 800).images_per_s, 16 * 117.5, 0.1) << "16 emulated cores";
  EXPECT_GT(demand_of(planned("12"), 800).images_per_s, 3000);
  // Of two cores that decode 800 images/s: 2.5 ms, and 2 ms of launches for each of 4 devices and 16 images.
  EXPECT_NEAR(demand_of(planned("12"), 800).core_s_per_image, 2.5e-3 + 4 * 2e-3 / 16, 1e-6);
}

TEST(TimeScale, IsTheSmallestThatLeavesAMarginOfTheCores) {
  const Demand demand{1000, 3e-3};  // 3 core seconds in a second
  EXPECT_EQ(time_scale_for(demand, 4, 16), 1);
  EXPECT_EQ(time_scale_for(demand, 3, 16), 2) << "no margin";
  EXPECT_EQ(time_scale_for(demand, 1, 16), 4);
  EXPECT_EQ(time_scale_for({1000, 300e-3}, 1, 16), 16) << "too slow a machine: the check `cores` tells";
}

TEST(TimeScale, GrowsWithWhatARowAsksFor) {
  const auto scale = [](const char* id, double decoded_images_per_s) {
    return time_scale_for(demand_of(planned(id), decoded_images_per_s), 2, 16);
  };
  EXPECT_EQ(scale("disk", 800), 1);
  EXPECT_LE(scale("tmpfs", 800), 2);
  EXPECT_LT(scale("tmpfs", 800), scale("12", 800));
  EXPECT_LT(scale("12", 800), scale("18", 800));
  EXPECT_LT(scale("7", 1600), scale("7", 300)) << "a slower machine";
}

// A record whose devices waited for images in `waits` of the time and whose loader delivered so many.
Record ran(double waits, double images_per_s, double read_ms) {
  Record record = planned("7");
  record.config.time_scale = 4;
  record.config.timed_batches = 60;
  record.total_s = double(record.config.batch) * 60 / images_per_s;
  record.device_ms = {{"load", {std::vector<double>(60, waits)}},
                      {"forward", {std::vector<double>(60, 1 - waits)}}};
  record.spans_ms = {{"read", {std::vector<double>(60, read_ms)}},
                     {"decode", {std::vector<double>(60, 5.0)}}};
  return record;
}

TEST(TimeScale, TheCheckFindsARowThatTheMachineHeldUp) {
  const double limit = 16 * 117.5 / 4;
  EXPECT_TRUE(check_of_cores(ran(0.01, 0.5 * limit, 1))->ok) << "the devices bind";
  EXPECT_TRUE(check_of_cores(ran(0.30, 0.98 * limit, 1))->ok) << "the emulated cores bind";
  EXPECT_TRUE(check_of_cores(ran(0.30, 0.50 * limit, 50))->ok) << "the storage binds";
  const auto failed = check_of_cores(ran(0.30, 0.80 * limit, 1));
  EXPECT_FALSE(failed->ok);
  EXPECT_EQ(failed->name, "cores");
  EXPECT_NE(failed->detail.find("waited 30 % of the time for images; 376 images/s of the 470"),
            std::string::npos)
      << failed->detail;
}

TEST(TimeScale, RowsWithoutEmulatedCoresAreNotChecked) {
  Record record = ran(0.5, 100, 1);
  record.config.core_images_per_s = 0;
  EXPECT_FALSE(check_of_cores(record));
  record.emulation.reset();
  EXPECT_FALSE(check_of_cores(record));
}

TEST(TimeScale, AFailedCheckLeavesNoFigure) {
  Record record = ran(0.3, 300, 1);
  record.timed_batches = 60;
  add_check(record, *check_of_cores(record));
  EXPECT_EQ(record.status, "INVALID");
  EXPECT_EQ(record.reason.rfind("cores: the devices waited", 0), 0u) << record.reason;
  EXPECT_FALSE(record.total_s);
}

}  // namespace
}  // namespace harness::time_scale_test
