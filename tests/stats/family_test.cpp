// unit: the family of a row, which scatters alike, by its settings and ceilings.
#include <gtest/gtest.h>

#include "harness/stats/inference.h"

namespace harness::family_test {

Record run_on(const std::string& device) {
  Record record;
  record.device.kind = device;
  record.config.nodes = 1;
  record.config.storage = "tmpfs";
  record.ceilings.emplace();
  record.ceilings->loader_ms = 50;
  record.ceilings->compute_ms = 100;
  return record;
}

Family family(const Record& record) { return family_of({&record}); }

TEST(Family, OfADeviceIsByItsCeilings) {
  Record run = run_on("emulated");
  EXPECT_EQ(family(run), Family::modelled);
  run.config.warmup_batches = 0;
  EXPECT_EQ(family(run), Family::started);
  run.config.warmup_batches = 100;
  run.world_size = 4;
  EXPECT_EQ(family(run), Family::ranks);
  run.ceilings->loader_ms = 90;
  EXPECT_EQ(family(run), Family::loader) << "within a quarter of the device's time";
  run.config.storage = "synthetic";
  EXPECT_EQ(family(run), Family::ranks) << "there is no loader";
  run.config.storage = "tmpfs";
  run.ceilings.reset();
  EXPECT_EQ(family(run), Family::loader) << "not known to be far";
}

TEST(Family, IsOfTheMeanOfTheRunsCeilings) {
  Record near = run_on("emulated"), far = run_on("emulated");
  near.ceilings->loader_ms = 90;
  far.ceilings->loader_ms = 40;
  EXPECT_EQ(family_of({&near, &far}), Family::modelled) << "130 x 1.25 < 200";
}

TEST(Family, OfOtherRowsIsByTheirSettings) {
  Record cpu = run_on("cpu"), cold = run_on("emulated"), set = run_on("emulated"), nodes = run_on("cpu");
  EXPECT_EQ(family(cpu), Family::processor);
  cold.cache.emplace();
  cold.cache->state = "cold";
  EXPECT_EQ(family(cold), Family::storage);
  set = cold;
  set.config.read_rate = 27e6;
  EXPECT_EQ(family(set), Family::modelled) << "the rate is the suite's";
  nodes.config.nodes = 2;
  EXPECT_EQ(family(nodes), Family::link);
}

}  // namespace harness::family_test
