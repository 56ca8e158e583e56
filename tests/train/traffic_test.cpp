// train: sizes and durations of collectives, also for asynchronous ones on a device
#include "bench/train/clock/traffic.h"

#include <gtest/gtest.h>

#include <thread>

namespace bench::traffic_test {

TEST(Traffic, CountsBytesByKindAndBatch) {
  Traffic traffic;
  traffic.end(traffic.begin(Collective::all_reduce, {100, 6}));
  const auto late = traffic.begin(Collective::broadcast, {7, 6});
  const Traffic::Batch first = traffic.next_batch();
  EXPECT_EQ(first.bytes, (std::array<int64_t, 3>{100, 7, 0}));
  EXPECT_EQ(first.all_reduces.size(), 1u);
  traffic.end(late);
  const Traffic::Batch second = traffic.next_batch();
  EXPECT_EQ(second.bytes, (std::array<int64_t, 3>{0, 0, 0}));
  EXPECT_GT(second.under_way_ms, 0) << "the broadcast ended in this one";
}

TEST(Traffic, PollsADeviceUntilItHasTheDuration) {
  Traffic traffic;
  traffic.next_batch();
  traffic.take_device_ms();  // what came before the slice
  bool done = false;
  const auto post = [&](double ms) {
    traffic.end_on_device(traffic.begin_on_device(Collective::all_reduce, {4, 6}),
                          [&done, ms] { return done ? std::optional(ms) : std::nullopt; });
  };
  post(1), post(2);
  traffic.next_batch();  // not yet complete
  post(4);
  done = true;
  traffic.next_batch();
  post(8);
  const std::vector<double> told = traffic.take_device_ms();
  EXPECT_EQ(told, (std::vector<double>{3, 4, 8}))
      << "each in the batch that posted it; the last is in progress";
  post(16);
  EXPECT_EQ(traffic.take_device_ms(), std::vector<double>{16}) << "only since the last call";
}

TEST(Traffic, TheHostsTimeToPostToADeviceIsNotCommunication) {
  Traffic traffic;
  const auto ticket = traffic.begin_on_device(Collective::all_reduce, {100, 6});
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  traffic.end_on_device(ticket, [] { return std::optional(3.0); });
  const Traffic::Batch batch = traffic.next_batch();
  EXPECT_EQ(batch.under_way_ms, 0);
  EXPECT_EQ(batch.bytes[size_t(Collective::all_reduce)], 100);
  ASSERT_EQ(batch.collectives.size(), 1u);
  EXPECT_GT(batch.collectives[0].ended, batch.collectives[0].posted);
  EXPECT_EQ(traffic.take_device_ms(), (std::vector<double>{3, 0}));
}

}  // namespace bench::traffic_test
