// unit: the distribution and the repeatability of crop boxes and flips.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "bench/image/decode.h"
#include "bench/image/philox.h"

namespace bench::augment_test {

TEST(Philox, EqualsThePublishedTestVectors) {  // kat_vectors of Random123
  EXPECT_EQ(philox({0, 0, 0, 0}, 0), (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, 0xffffffffffffffff),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// Figures of 200,000 draws of torchvision's RandomResizedCrop on 482 x 415.
TEST(Augment, DistributionIsTorchvisions) {
  const ImageSize size{482, 415};
  constexpr int kDraws = 200'000;
  double area = 0, height = 0, above = 0, below = 0, flips = 0, upsampled = 0;
  for (int record = 0; record < kDraws; ++record) {
    const Augmentation drawn = draw_augmentation(size, 1, 0, record);
    const CropBox& box = drawn.box;
    ASSERT_GE(box.left, 0);
    ASSERT_GE(box.top, 0);
    ASSERT_LE(box.left + box.width, size.width);
    ASSERT_LE(box.top + box.height, size.height);
    area += static_cast<double>(box.width) * box.height / (size.width * size.height);
    height += static_cast<double>(box.height) / size.height;
    above += static_cast<double>(box.top) / size.height;
    below += static_cast<double>(size.height - box.top - box.height) / size.height;
    flips += drawn.flip;
    upsampled += box.width < 224 || box.height < 224;
  }
  EXPECT_NEAR(area / kDraws, 0.469, 0.004);
  EXPECT_NEAR(height / kDraws, 0.70, 0.005);
  EXPECT_NEAR(above / kDraws, 0.148, 0.003);
  EXPECT_NEAR(below / kDraws, 0.148, 0.003);
  EXPECT_NEAR(upsampled / kDraws, 0.27, 0.01);
  EXPECT_NEAR(flips / kDraws, 0.5, 0.005);
}

TEST(Augment, StripsFallBackToTheCentre) {
  const CropBox box = draw_augmentation({500, 33}, 1, 0, 0).box;  // no ratio of 4:3 covers 8 % of it often
  EXPECT_LE(box.height, 33);
  const CropBox line = draw_augmentation({5000, 1}, 1, 0, 0).box;
  EXPECT_EQ(line.width, 1);
  EXPECT_EQ(line.height, 1);
  EXPECT_EQ(line.left, 2499);
}

TEST(Augment, DependsOnSeedEpochAndRecordOnly) {
  const ImageSize size{400, 300};
  const auto key = [&](uint64_t seed, int64_t epoch, int64_t record) {
    const Augmentation drawn = draw_augmentation(size, seed, epoch, record);
    return std::tuple{drawn.box.left, drawn.box.top, drawn.box.width, drawn.box.height, drawn.flip};
  };
  EXPECT_EQ(key(1, 2, 3), key(1, 2, 3));
  std::set<std::tuple<int, int, int, int, bool>> different;
  for (uint64_t seed : {1, 2})
    for (int64_t epoch : {0, 1})
      for (int64_t record : {0, 1, 2}) different.insert(key(seed, epoch, record));
  EXPECT_EQ(different.size(), 12u);
}

}  // namespace bench::augment_test
