// unit: Timelines, durations and ledgers of emulated devices, against examples worked out by hand.
#include "bench/train/timeline/timelines.h"

#include <gtest/gtest.h>

#include <thread>

#include "bench/train/timeline/durations.h"
#include "bench/train/timeline/ledger.h"
#include "harness/base/scratch.h"

namespace bench::timelines_test {
namespace {

constexpr Nanoseconds kMs = 1'000'000;

class TimelinesTest : public testing::Test {
 protected:
  Nanoseconds since_start(Nanoseconds instant) const { return instant - start_; }
  Timelines timelines_{2, /*launch_cost=*/1 * kMs};
  Nanoseconds host() const { return timelines_.now(0, Timelines::kStreams - 1); }  // an idle stream
  const Nanoseconds start_ = host();
};

TEST_F(TimelinesTest, KernelsQueueBehindEachOtherWhileTheHostRunsAhead) {
  EXPECT_EQ(since_start(timelines_.launch(0, 0, 10 * kMs)), 11 * kMs) << "launched after 1 ms";
  EXPECT_EQ(since_start(timelines_.launch(0, 0, 10 * kMs)), 21 * kMs)
      << "launched after 2 ms, begins after 11";
  EXPECT_EQ(since_start(host()), 2 * kMs);
}

TEST_F(TimelinesTest, ShortKernelsTakeAsLongAsTheirLaunches) {
  EXPECT_EQ(since_start(timelines_.launch(0, 0, 2 * kMs, /*launches=*/10)), 10 * kMs);
  EXPECT_EQ(since_start(timelines_.launch(0, 0, 30 * kMs, /*launches=*/10)), 41 * kMs)
      << "its first kernel begins at 11 ms";
}

TEST_F(TimelinesTest, StreamsOverlapAndWaitForEachOther) {
  const Nanoseconds copied = timelines_.launch(0, 1, 20 * kMs);  // 1 to 21
  EXPECT_EQ(since_start(timelines_.launch(0, 0, 5 * kMs)), 7 * kMs) << "the other stream goes on";
  timelines_.hold_up(0, 0, copied);
  EXPECT_EQ(since_start(timelines_.launch(0, 0, 5 * kMs)), 26 * kMs);
}

TEST_F(TimelinesTest, CopiesBetweenDevicesOccupyBothStreams) {
  timelines_.launch(1, 0, 10 * kMs);  // until 11 on device 1
  EXPECT_EQ(since_start(timelines_.copy(0, 0, 1, 0, 4 * kMs)), 15 * kMs) << "waits for the destination";
  EXPECT_EQ(since_start(timelines_.copy(0, 0, 1, 0, 4 * kMs)), 19 * kMs)
      << "one after another on the source's stream";
  EXPECT_EQ(timelines_.tail(1, 0), timelines_.tail(0, 0));
}

TEST_F(TimelinesTest, AnIdleDeviceBeginsWhenTheBatchIsReady) {
  timelines_.join_host(0, start_ + 50 * kMs);
  EXPECT_EQ(since_start(timelines_.launch(0, 0, 3 * kMs)), 54 * kMs);
  timelines_.join_host(0, start_ + 20 * kMs);
  EXPECT_EQ(since_start(host()), 51 * kMs) << "what was ready before keeps nobody waiting";
}

TEST_F(TimelinesTest, AWaitEndsAtItsInstantAndTheHostsClockWithIt) {
  const Nanoseconds end = timelines_.launch(0, 0, 30 * kMs);
  timelines_.wait(0, end);
  EXPECT_GE(steady_now(), end);
  EXPECT_EQ(host(), end) << "being late is no part of it";
  EXPECT_EQ(timelines_.lag().waits, 1);
}

harness::EmulatedDevice device() {
  harness::EmulatedDevice device;
  device.name = "test";
  const auto figure = [](double value) { return harness::SourcedFigure{value, "assumed", "a test"}; };
  device.models["resnet18"]["o0"] = {figure(0.5), figure(2), figure(1), figure(4), figure(3)};
  device.launch_us = figure(8);
  device.memory_gb_per_s = figure(100);
  device.h2d_gb_per_s = device.d2h_gb_per_s = device.collective_gb_per_s = figure(10);
  device.pageable_gb_per_s = device.peer_gb_per_s = figure(5);
  device.h2d_us = device.d2h_us = device.peer_us = device.collective_us = figure(100);
  return device;
}

TEST_F(TimelinesTest, OfEachBatchTheWaitAtWhichTheHostWasClosestCounts) {
  for (int batch = 0; batch < 3; ++batch) {
    timelines_.wait(0, 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    timelines_.wait(0, 0);                        // 5 ms late: the virtual clock did not move
    timelines_.wait(0, steady_now() + 20 * kMs);  // caught up
    timelines_.next_batch();
  }
  EXPECT_LT(timelines_.lag().median, 4 * kMs);
  EXPECT_EQ(timelines_.lag().waits, 9);
  timelines_.wait(0, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  timelines_.wait(0, 0);
  timelines_.begin_again();
  EXPECT_EQ(timelines_.lag().waits, 0);
}

TEST_F(TimelinesTest, AHostThatNeverCatchesUpIsBehind) {
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  timelines_.wait(0, 0);
  timelines_.next_batch();
  EXPECT_GE(timelines_.lag().median, 5 * kMs);
  EXPECT_GE(timelines_.lag().worst, 5 * kMs);
}

TEST_F(TimelinesTest, UncertainArrivalsAddUpWithinABatch) {
  for (int batch = 0; batch < 3; ++batch) {
    for (const Nanoseconds by : {0, 0, 0, 4}) timelines_.uncertain_arrival(by * kMs);
    timelines_.next_batch();
  }
  EXPECT_EQ(timelines_.lag().median_uncertain, 4 * kMs) << "one transfer of four in each batch";
  timelines_.begin_again();
  EXPECT_EQ(timelines_.lag().median_uncertain, 0);
}

TEST_F(TimelinesTest, NowIsNotBeforeTheHostsPresent) {
  const Nanoseconds end = timelines_.launch(0, 0, 30 * kMs);
  EXPECT_EQ(timelines_.now(0, 0), end);
  EXPECT_EQ(since_start(timelines_.now(0, 1)), 1 * kMs) << "an idle stream";
}

TEST(Durations, CopiesFromTheHostShareALink) {
  harness::EmulatedDevice shared = device();
  shared.h2d_devices_per_link = harness::SourcedFigure{2, "assumed", "a test"};
  EXPECT_EQ(Durations({shared, 1, 1}, "o0", "resnet18", 1).host_to_device(1e8, true), 10'100'000);
  EXPECT_EQ(Durations({shared, 1, 1}, "o0", "resnet18", 4).host_to_device(1e8, true), 20'100'000);
}

TEST(Durations, AreThoseOfTheTrueBatchTimesTheScale) {
  const Durations whole({device(), 1, 1}, "o0", "resnet18", 1),
      scaled({device(), 16, 4}, "o0", "resnet18", 1);
  EXPECT_EQ(whole.forward(64), 34 * kMs);
  EXPECT_EQ(whole.backward(64), 68 * kMs);
  EXPECT_THROW(Durations({device(), 1, 1e6}, "o0", "resnet18", 1).forward(int64_t(1) << 40),
               std::invalid_argument);
  EXPECT_EQ(scaled.forward(4), 34 * kMs / 4) << "64 images, times 4, divided by 16";
  EXPECT_EQ(scaled.optimizer(), 3 * kMs / 4);
  EXPECT_EQ(scaled.launch(), 2'000);
  // 100 MB at 10 GB/s and 0.1 ms; here a sixteenth of the bytes.
  EXPECT_EQ(whole.host_to_device(100e6, true), 10'100'000);
  EXPECT_EQ(scaled.host_to_device(100e6 / 16, true), 10'100'000 / 4);
  EXPECT_EQ(whole.host_to_device(100e6, false), 20'100'000);
  // Gradients keep their bytes: 4 ranks, 6 hops of 0.1 ms.
  EXPECT_EQ(whole.collective(100e6, 4), 10'600'000);
  EXPECT_EQ(scaled.collective(100e6, 4), 10'600'000 / 4);
}

TEST(Durations, RefuseWhatTheFileDoesNotHave) {
  EXPECT_THROW(Durations({device(), 1, 1}, "o2", "resnet18", 1), std::invalid_argument);
  EXPECT_THROW(Durations({device(), 1, 1}, "o0", "resnet50", 1), std::invalid_argument);
}

TEST(LedgerTest, TheLastRankDecidesAndValuesTravel) {
  const base::Scratch folder;
  const auto file = folder.path() / "ledger";
  Ledger first(file, 0, 2), second(file, 1, 2);
  for (uint64_t number = 0; number < 200; ++number) {  // more than there are slots
    std::thread other([&] {
      second.post("all_reduce of 8 bytes", Nanoseconds(1000 + number), std::string("b"));
      EXPECT_EQ(second.meet(number, kMs * 10'000).ready, Nanoseconds(1000 + number));
    });
    EXPECT_EQ(first.post("all_reduce of 8 bytes", 500, std::string("a")), number);
    const Ledger::Meeting meeting = first.meet(number, kMs * 10'000);
    other.join();
    EXPECT_EQ(meeting.ready, Nanoseconds(1000 + number));
    EXPECT_EQ(meeting.payloads, (std::vector<std::string>{"a", "b"}));
  }
}

TEST(LedgerTest, DifferentCollectivesAndMissingRanksAreErrors) {
  const base::Scratch folder;
  const auto file = folder.path() / "ledger";
  Ledger first(file, 0, 2), second(file, 1, 2);
  first.post("all_reduce of 8 bytes", 1);
  second.post("broadcast of 8 bytes", 1);
  EXPECT_THROW(first.meet(0, kMs), std::runtime_error);
  first.post("barrier of 0 bytes", 1);
  EXPECT_THROW(first.meet(1, kMs), std::runtime_error) << "rank 1 never comes";
  EXPECT_THROW(first.post("too much", 1, std::string(Ledger::kPayloadBytes + 1, 'x')), std::invalid_argument);
  Ledger large(folder.path() / "large", 0, 1, 10 * Ledger::kPayloadBytes, 1);
  const std::string payload(10 * Ledger::kPayloadBytes, 'y');
  EXPECT_EQ(large.meet(large.post("much", 1, payload), kMs).payloads.at(0), payload);
}

}  // namespace
}  // namespace bench::timelines_test
