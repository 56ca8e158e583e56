// unit: timelines: the clock's last batch, one rank's events, clipped to the batch.
#include <gtest/gtest.h>

#include "bench/train/clock/device_clock.h"
#include "bench/train/clock/rank_timeline.h"
#include "harness/contract/progress.h"

namespace bench::timeline_test {

using nlohmann::json;
using std::chrono::milliseconds;

const PhaseClock::Time kBegin{std::chrono::seconds(100)};

PhaseClock::Time at(int ms) { return kBegin + milliseconds(ms); }

TEST(PhaseClock, RemembersTheLastBatchOnly) {
  PhaseClock clock(2, true);
  clock.start();
  const PhaseClock::Time start = clock.last_boundary();
  clock.enter_at(Phase::load, start);
  clock.enter_at(Phase::forward, start + milliseconds(1));
  clock.enter_at(Phase::load, start + milliseconds(3));
  clock.enter_at(Phase::other, start + milliseconds(4));
  clock.next_batch();
  const auto first = clock.last_batch();
  ASSERT_EQ(first.size(), 4u);
  EXPECT_EQ(first[0].begin, start);
  EXPECT_EQ(first[1].phase, Phase::forward);
  EXPECT_EQ(first[1].end - first[1].begin, milliseconds(2));
  EXPECT_EQ(first[3].phase, Phase::other);
  for (size_t i = 1; i < first.size(); ++i) EXPECT_EQ(first[i].begin, first[i - 1].end);

  clock.enter_at(Phase::step, start + milliseconds(4));
  clock.enter_at(Phase::other, start + milliseconds(9));
  clock.next_batch();
  const auto second = clock.last_batch();
  ASSERT_EQ(second.size(), 2u);
  EXPECT_EQ(second[0].begin, first[3].end);
  EXPECT_EQ(second[0].phase, Phase::step);
}

TEST(PhaseClock, RemembersAllPhasesOfABatchHoweverMany) {
  PhaseClock clock(2, true);
  clock.start();
  for (int i = 0; i < 1001; ++i) clock.enter(Phase::other);
  clock.next_batch();
  const auto many = clock.last_batch();
  ASSERT_EQ(many.size(), 1001u);
  for (size_t i = 1; i < many.size(); ++i) ASSERT_EQ(many[i].begin, many[i - 1].end);
  EXPECT_EQ(clock.calls_per_batch(), 1001);
  clock.enter(Phase::step);
  clock.next_batch();
  EXPECT_EQ(clock.last_batch().size(), 1u);
}

// Records the calls to a device clock.
struct ToldClock : DeviceClock {
  ToldClock() : DeviceClock(0) {}
  void start() override { calls.push_back("start"); }
  void enter(Phase phase) override { calls.emplace_back(kPhaseNames[size_t(phase)]); }
  void next_batch() override { calls.push_back("next batch"); }
  void set_mark(size_t) override {}
  double milliseconds_after(size_t) const override { return 0; }
  std::vector<std::string> calls;
};

TEST(PhaseClock, WhatLiesBeforeTheWindowOrAfterTheLastBatchIsNotKept) {
  ToldClock device;
  PhaseClock clock(1, true, &device);
  clock.start();
  clock.enter(Phase::other);
  clock.start();
  const PhaseClock::Time window = clock.last_boundary();
  clock.enter(Phase::load);
  clock.enter_at(Phase::other, window + milliseconds(1));
  clock.next_batch();
  clock.enter(Phase::other);
  clock.enter(Phase::load);
  ASSERT_EQ(clock.last_batch().size(), 2u);
  EXPECT_EQ(clock.last_batch()[0].begin, window);
  EXPECT_EQ(clock.milliseconds(Phase::load, 0, 1)[0], 1);
  EXPECT_EQ(clock.calls_per_batch(), 2);
  EXPECT_EQ(device.calls,
            (std::vector<std::string>{"start", "other", "start", "load", "other", "next batch"}));
}

// A device that reaches each mark at the time that the test has set.
struct TimedMarks : DeviceClock {
  TimedMarks() : DeviceClock(1) {}
  void set_mark(size_t number) override {
    EXPECT_EQ(number, marks.size());
    marks.push_back(now);
  }
  double milliseconds_after(size_t number) const override { return marks.at(number + 1) - marks.at(number); }
  double now = 0;
  std::vector<double> marks;
};

TEST(DeviceClock, APhaseLastsFromItsMarkToTheNext) {
  TimedMarks device;
  device.start();
  device.enter(Phase::forward);  // before the window, not counted
  device.now = 100;
  device.start();
  for (int batch = 0; batch < 3; ++batch) {  // more than announced
    for (const Phase phase : {Phase::load, Phase::forward, Phase::load}) {
      device.enter(phase);
      device.now += phase == Phase::load ? 1 : 10 + batch;
    }
    device.next_batch();
  }
  EXPECT_EQ(device.marks.size(), 11u);  // a batch's first phase has the batch's mark
  EXPECT_EQ(device.milliseconds(Phase::forward, 0, 3), (std::vector<double>{10, 11, 12}));
  EXPECT_EQ(device.milliseconds(Phase::load, 1, 2), (std::vector<double>{2, 2}));
  EXPECT_EQ(device.milliseconds(Phase::sync, 0, 1), (std::vector<double>{0}));
}

TEST(Timeline, EventsAreCutAtTheBatchsEdges) {
  BatchEvents batch;
  batch.host = {{Phase::load, at(0), at(2)}, {Phase::h2d, at(2), at(2)}, {Phase::backward, at(2), at(10)}};
  batch.collectives = {{Collective::broadcast, at(-3), at(1)}, {Collective::all_reduce, at(4), {}}};
  batch.devices = {{}, {{Phase::backward, at(3), at(9)}}};
  const auto event = [](const char* track, const char* name, double begin_ms, double end_ms) {
    return json{{"rank", 3}, {"track", track}, {"name", name}, {"begin_ms", begin_ms}, {"end_ms", end_ms}};
  };
  EXPECT_EQ(harness::encode(*rank_timeline(batch, 3)),
            json({{"machine", int64_t(harness::this_machine())},
                  {"begin_ns", 100'000'000'000},
                  {"events",
                   {event("host", "load", 0, 2), event("host", "backward", 2, 10),
                    event("collectives", "broadcast", 0, 1), event("collectives", "all_reduce", 4, 10),
                    event("device 1", "backward", 3, 9)}}}));
}

}  // namespace bench::timeline_test
