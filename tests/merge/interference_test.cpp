// unit: how much of a row's timed window others took: the kernel's counters, and the ranks' times merged
#include "harness/merge/interference.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <thread>

#include "tests/support/fake_report.h"
#include "tests/support/merged.h"

namespace harness::interference_test {

void compute_for(double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) continue;
}

RankPlace place(int64_t rank, std::vector<int64_t> cpus) {
  RankPlace place;
  place.rank = rank;
  place.host = "a";
  place.cpus = std::move(cpus);
  return place;
}

RecordEnvironment environment_of(const std::vector<std::pair<RankPlace, CpuTime>>& ranks) {
  Interference load;
  for (const auto& [place, time] : ranks) load.add(place, time);
  RecordEnvironment environment;
  load.write_to(environment);
  return environment;
}

TEST(CpuTime, CountsOwnTimeAndTheTimeThatThreadsWaitForACore) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core)
    if (CPU_ISSET(core, &before)) CPU_SET(core, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const CpuTime start = cpu_time_until_now();
  std::thread other([] {
    compute_for(0.5);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // ended threads aren't counted
  });
  compute_for(0.5);
  const CpuTime passed = cpu_time_until_now() - start;
  other.join();
  sched_setaffinity(0, sizeof before, &before);
  EXPECT_GT(passed.own_s, 0.05);
  EXPECT_NEAR(passed.total_s, 0.5, 0.3);  // of one core
  EXPECT_GE(passed.busy_s, passed.own_s - 0.1);
  if (!passed.queued_s) GTEST_SKIP() << "this kernel keeps no scheduler statistics";
  EXPECT_GT(*passed.queued_s, 0.1);  // two threads on one core: each waits half of the time
}

TEST(Interference, OthersTookWhatTheRowDidNotUse) {
  const auto found = environment_of({{place(0, {0, 1}), {20, 18, 1, 14, 10.0}}});
  EXPECT_DOUBLE_EQ(*found.window_steal_share, 0.05);
  EXPECT_DOUBLE_EQ(*found.window_outside_share, 0.2);  // 18 - 14 of 20 s
  EXPECT_DOUBLE_EQ(*found.window_busy_share, 0.9);
}

TEST(Interference, ANeighbourOnIdleCoresIsNoDisturbance) {
  const auto found = environment_of({{place(0, {0, 1}), {20, 20, 0, 10, 0.1}}});
  EXPECT_DOUBLE_EQ(*found.window_outside_share, 0.005);
}

TEST(Interference, RanksOnTheSameCoresShareTheirTime) {
  const CpuTime time{20, 20, 2, 8, 3.0};
  const auto shared = environment_of({{place(0, {0, 1}), time}, {place(1, {0, 1}), time}});
  EXPECT_DOUBLE_EQ(*shared.window_steal_share, 0.1);
  EXPECT_DOUBLE_EQ(*shared.window_outside_share, 0.2);  // 20 - 2 x 8 of 20 s
  const auto apart = environment_of({{place(0, {0, 1}), time}, {place(1, {2, 3}), {20, 8, 0, 8, 0.0}}});
  EXPECT_DOUBLE_EQ(*apart.window_steal_share, 0.05);
  EXPECT_DOUBLE_EQ(*apart.window_outside_share, 3.0 / 40);
}

// Two emulated nodes of one machine have host names of their own.
TEST(Interference, NodesOnOneMachineAreNoDisturbanceToEachOther) {
  const CpuTime time{20, 20, 0, 10, 8.0, 0, /*machine=*/7};
  RankPlace second = place(1, {0, 1});
  second.host = "b";
  EXPECT_DOUBLE_EQ(*environment_of({{place(0, {0, 1}), time}, {second, time}}).window_outside_share, 0);
  CpuTime elsewhere = time;
  elsewhere.machine = 8;
  EXPECT_DOUBLE_EQ(*environment_of({{place(0, {0, 1}), time}, {second, elsewhere}}).window_outside_share,
                   16.0 / 40);
}

TEST(Interference, ThreadsOfTheKernelAreNoOthers) {
  EXPECT_DOUBLE_EQ(*environment_of({{place(0, {0, 1}), {20, 18, 0, 14, 10.0, 3.0}}}).window_outside_share,
                   0.05);
  EXPECT_DOUBLE_EQ(*environment_of({{place(0, {0, 1}), {20, 18, 0, 14, 10.0, 9.0}}}).window_outside_share, 0);
}

TEST(Interference, WithoutSchedulerStatisticsOutsideIsUnknown) {
  const auto found = environment_of({{place(0, {0}), {10, 10, 1, 5, std::nullopt}}});
  EXPECT_TRUE(found.window_steal_share);
  EXPECT_FALSE(found.window_outside_share);
  EXPECT_FALSE(environment_of({}).window_steal_share);
}

TEST(CpuTime, TheClockOfABusyCoreHardlyChangesInAMoment) {
  compute_for(0.05);
  const CpuTime start = cpu_time_until_now();
  ASSERT_GT(start.chain_step_ns, 0.2);  // at least 4 cycles of at most 20 GHz
  ASSERT_LT(start.chain_step_ns, 100);
  CpuTime end = start;
  end.chain_step_ns = 2 * start.chain_step_ns;
  EXPECT_DOUBLE_EQ((end - start).clock_change.value(), -0.5) << "half the clock";
}

TEST(Interference, TheLargestChangeOfAClockCounts) {
  CpuTime slower{20, 20, 0, 10, 8.0}, faster = slower;
  slower.clock_change = -0.12;
  faster.clock_change = 0.01;
  EXPECT_DOUBLE_EQ(*environment_of({{place(0, {0}), slower}, {place(1, {1}), faster}}).clock_change, -0.12);
  EXPECT_DOUBLE_EQ(*environment_of({{place(0, {1}), faster}, {place(1, {0}), slower}}).clock_change, -0.12);
  EXPECT_FALSE(environment_of({{place(0, {0}), {20, 20, 0, 10, 8.0}}}).clock_change);
}

TEST(Interference, IsInTheMergedRecord) {
  harness::Row row;
  row.warmup_batches = 2;
  row.timed_batches = 3;
  nlohmann::json report = bench::fake_report(row, 0);
  report["cpu_time"] = {{"total_s", 4},  {"busy_s", 4},   {"stolen_s", 1}, {"own_s", 2},
                        {"queued_s", 2}, {"kernel_s", 0}, {"machine", 1}};
  const Record record = merged_texts(row, {report.dump()});
  EXPECT_DOUBLE_EQ(*record.environment.window_steal_share, 0.25);
  EXPECT_DOUBLE_EQ(*record.environment.window_outside_share, 0.5);
  report.erase("cpu_time");
  EXPECT_FALSE(merged_texts(row, {report.dump()}).environment.window_steal_share);
}

}  // namespace harness::interference_test
