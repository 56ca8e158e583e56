// net: where emulated ranks of two nodes meet: values in rank order, and instants of real transfers.
#include "bench/train/backend/node_meeting.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <barrier>
#include <thread>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "tests/support/failure_of.h"
#include "tests/support/temporary_folder.h"

namespace node_meeting_test {

using namespace bench;
constexpr int kRanks = 4, kPerNode = 2;
constexpr Nanoseconds kMs = 1'000'000;

// Runs the same code as each of four ranks on two nodes. rank_code(meeting, rank) returns what it got or
// throws.
template <class Code>
void on_four_ranks(const Code& rank_code) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  const TemporaryFolder folder;
  std::barrier all(kRanks);  // the first to end would remove the others' ledgers and connections
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < kRanks; ++rank)
    ranks.emplace_back([&, rank] {
      const RankInfo info{.rank = rank,
                          .world_size = kRanks,
                          .local_rank = rank % kPerNode,
                          .local_world_size = kPerNode,
                          .node = rank / kPerNode};
      NodeMeeting meeting(info, folder, "row", store, "lo");
      rank_code(meeting, rank);
      all.arrive_and_wait();
    });
  for (std::thread& rank : ranks) rank.join();
}

TEST(NodeMeeting, ValuesArriveInTheOrderOfRanks) {
  on_four_ranks([](NodeMeeting& meeting, int rank) {
    for (int round = 0; round < 3; ++round) {
      const std::string mine = fmt::format("{}{}", rank, round);
      const uint64_t number = meeting.post("all_reduce of 2 bytes", 0, mine);
      const auto met = meeting.meet(number, "all_reduce of 2 bytes", 0, {});
      EXPECT_EQ(met.payloads,
                (std::vector<std::string>{fmt::format("0{}", round), fmt::format("1{}", round),
                                          fmt::format("2{}", round), fmt::format("3{}", round)}));
    }
  });
}

TEST(NodeMeeting, BytesLeaveWhenTheNodeIsReadyAndArriveWhenTheOtherNodeHasSentThem) {
  const Nanoseconds now = steady_now(), late = now + 150 * kMs;
  on_four_ranks([&](NodeMeeting& meeting, int rank) {
    const Nanoseconds ready = rank == 3 ? late : now + rank * kMs;  // the second node's second rank is late
    const std::string what = "all_reduce of 1000 bytes";
    const auto met = meeting.meet(meeting.post(what, ready, {}), what, 0, {Crossing::Path::ring, 1000});
    EXPECT_EQ(met.begin, rank < 2 ? now + kMs : late) << "when its own node is ready";
    EXPECT_GE(met.arrived, late) << "on both nodes, because each waits for the other's bytes";
    EXPECT_LT(met.arrived, late + 2000 * kMs);
  });
}

TEST(NodeMeeting, ABroadcastLeavesItsRootWithoutWaitingForTheOthers) {
  const Nanoseconds now = steady_now(), late = now + 300 * kMs;
  on_four_ranks([&](NodeMeeting& meeting, int rank) {
    const std::string what = "broadcast of 1000 bytes";
    const auto met = meeting.meet(meeting.post(what, rank < 2 ? now : late, {}), what, 0,
                                  {Crossing::Path::chain, 1000, /*root_node=*/0});
    if (rank < 2)
      EXPECT_EQ(met.arrived, met.begin) << "nothing comes to the root's node";
    else
      EXPECT_GE(met.arrived, late);
  });
}

// A host that gets to a transfer late must not make the emulated link look slow.
TEST(NodeMeeting, ByHowMuchATransferBeganLateIsTakenOffItsArrival) {
  const Nanoseconds ready = steady_now() - 500 * kMs;
  on_four_ranks([&](NodeMeeting& meeting, int rank) {
    for (const Crossing::Path path : {Crossing::Path::ring, Crossing::Path::chain, Crossing::Path::none}) {
      const std::string what = fmt::format("transfer {}", int(path));
      const uint64_t number = meeting.post(what, ready, {});
      if (rank == 2)
        std::this_thread::sleep_for(std::chrono::milliseconds(200));  // of both nodes one is later
      const auto met = meeting.meet(number, what, 0, {path, 1000});
      EXPECT_GE(met.arrived, ready) << what;
      EXPECT_LT(met.arrived, ready + 150 * kMs) << what;
      EXPECT_EQ(met.uncertain, 0);
    }
  });
}

TEST(NodeMeeting, ValuesOfAllRanksMayBeLargerThanThoseOfOne) {
  on_four_ranks([](NodeMeeting& meeting, int rank) {
    const std::string mine(Ledger::kPayloadBytes, char('a' + rank));
    const auto met = meeting.meet(meeting.post("all_gather", 0, mine), "all_gather", 0, {});
    for (int other = 0; other < kRanks; ++other)
      EXPECT_EQ(met.payloads.at(size_t(other)), std::string(Ledger::kPayloadBytes, char('a' + other)));
  });
}

TEST(NodeMeeting, AStreamThatIsBusyBeginsLater) {
  const Nanoseconds busy_until = steady_now() + 50 * kMs;
  on_four_ranks([&](NodeMeeting& meeting, int) {
    const auto met = meeting.meet(meeting.post("x", 0, {}), "x", busy_until, {Crossing::Path::ring, 10});
    EXPECT_EQ(met.begin, busy_until);
    EXPECT_GE(met.arrived, busy_until);
  });
}

TEST(NodeMeeting, NodesThatCallDifferentCollectivesAreToldSo) {
  on_four_ranks([&](NodeMeeting& meeting, int rank) {
    const std::string what = rank < 2 ? "all_reduce of 1000 bytes" : "all_gather of 1000 bytes";
    const uint64_t number = meeting.post(what, 0, {});
    if (rank % kPerNode != 0) return;  // only the first ranks of the nodes see each other
    EXPECT_SAYS(failure_of([&] {
                  meeting.meet(number, what, 0, {Crossing::Path::ring, 1000});
                }),
                "another collective");
  });
}

}  // namespace node_meeting_test
