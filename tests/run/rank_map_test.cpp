// unit: the line that says which rank ran where.
#include <gtest/gtest.h>

#include "harness/run/row_launch.h"

namespace harness::rank_map_test {

RankPlace place(const char* host, const char* device, const std::vector<int64_t>& cpus) {
  RankPlace place;
  place.host = host;
  place.device = device;
  place.cpus = cpus;
  return place;
}

TEST(RankMap, RanksThatShareAPlaceAreGrouped) {
  const std::vector<RankPlace> map = {place("node0", "cpu:0", {0, 1, 2, 5}),
                                      place("node0", "cpu:1", {0, 1, 2, 5}), place("node1", "cpu:0", {7})};
  EXPECT_EQ(rank_map_text(map),
            "ranks 0-1 on node0 (cpu:0 to cpu:1, cores 0-2,5), 2 on node1 (cpu:0, cores 7)");
}

TEST(RankMap, OneRank) {
  EXPECT_EQ(rank_map_text({place("here", "cpu:0", {3})}), "rank 0 on here (cpu:0, cores 3)");
}

}  // namespace harness::rank_map_test
