// unit: the search for the largest batch, and the command largest-batch with a fake train_slice.
#include <cmath>

#include "harness/plan/probe.h"
#include "tests/support/program.h"

namespace harness::largest_batch_test {

TEST(LargestBatch, IsFoundBetweenNeighboursInFewTries) {
  for (const int64_t truth : {1, 2, 3, 7, 8, 9, 100, 4097, 100'000}) {
    int tries = 0;
    const LargestBatch found = largest_batch([&](int64_t images) {
      ++tries;
      return images <= truth;
    });
    EXPECT_EQ(found.images, truth);
    EXPECT_EQ(found.too_many, truth + 1);
    EXPECT_LE(tries, 2 * std::log2(kMostImagesTried));
  }
}

TEST(LargestBatch, NothingFitsOrEverything) {
  EXPECT_EQ(largest_batch([](int64_t) { return false; }).images, 0);
  const LargestBatch all = largest_batch([](int64_t) { return true; });
  EXPECT_EQ(all.images, kMostImagesTried);
  EXPECT_FALSE(all.too_many);
}

class LargestBatchCommand : public Program {};

TEST_F(LargestBatchCommand, SaysHowManyImagesFit) {
  ASSERT_EQ(run({"largest-batch", "2", "--device", "cuda", "--scale", "smoke"},
                {{"FAKE_GPUS", "4"}, {"FAKE_MEMORY", "100"}}),
            0)
      << errors();
  EXPECT_TRUE(says(": 100 images a device, 200 in all, fit into this GPU's memory; 101 don't")) << output();
  EXPECT_TRUE(says("     128 images: out of memory")) << output();
  EXPECT_EQ(run({"largest-batch", "2", "--device", "cuda", "--scale", "smoke"},
                {{"FAKE_GPUS", "4"}, {"FAKE_MEMORY", "0"}}),
            3);
  EXPECT_TRUE(says("not even one image fits"));
}

TEST_F(LargestBatchCommand, AProbeThatASignalEndsIsNamedWithIt) {
  for (const auto& [signal, name] : {std::pair{"9", "signal 9 (Killed)"}, {"7", "signal 7 (Bus error)"}}) {
    EXPECT_EQ(run({"largest-batch", "0", "--device", "cpu", "--scale", "smoke", "--memory-cap", "2GiB"},
                  {{"FAKE_PROBE_SIGNAL", signal}}),
              2);
    EXPECT_TRUE(says("row 0 on 1 images a device, was ended by " + std::string(name))) << errors();
    EXPECT_FALSE(says("--scale auto")) << errors();
  }
  EXPECT_EQ(
      run({"--only", "2", "--device", "cuda", "--dry-run"}, {{"FAKE_GPUS", "4"}, {"FAKE_PROBE_SIGNAL", "9"}}),
      2);
  EXPECT_TRUE(says("--scale auto needs it: name a scale")) << errors();
}

TEST_F(LargestBatchCommand, BadInputIsRefused) {
  const auto refused = [&](std::vector<std::string> words, const std::string& why) {
    words.insert(words.begin(), "largest-batch");
    EXPECT_EQ(run(words), 2);
    EXPECT_TRUE(says(why)) << errors();
  };
  refused({"0", "--device", "cpu"}, "--memory-cap 2GiB");
  refused({"0,1", "--device", "cpu", "--memory-cap", "2GiB"}, "takes one row");
  refused({"none", "--memory-cap", "2GiB"}, "none");
  for (const char* size : {"2 parsec", "-1GiB", "-1", "0", "9EiB", "x"})
    refused({"0", std::string("--memory-cap=") + size},
            std::string("--memory-cap: expected a size such as 4GiB, found ") + size);
  refused({}, "row");
}

}  // namespace harness::largest_batch_test
