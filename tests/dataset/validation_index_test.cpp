// unit: the set for accuracy measurements: its two parts, its bytes, and the required content of val/
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "bench/dataset/scan.h"
#include "bench/dataset/standin.h"
#include "bench/dataset/standin_image.h"
#include "tests/support/dataset_folder.h"
#include "tests/support/failure_of.h"

namespace bench::validation_index_test {

StandinOptions learnable(const std::filesystem::path& out, int64_t seed, int threads) {
  StandinOptions options{out, 80, 40, seed, threads};
  options.validation = 40;
  return options;
}

TEST(Learnable, SeedAloneDecidesTheBytesOfBothParts) {
  DatasetFolder folder;
  const auto content_of = [&](const std::string& name, int64_t seed, int threads) {
    make_standin(learnable(folder.path / name, seed, threads));
    const Dataset train = scan_dataset(folder.path / name), val = scan_validation(train);
    EXPECT_EQ(train.images.size(), 80u);
    EXPECT_EQ(val.images.size(), 40u);
    std::string all;
    for (const Dataset* part : {&train, &val})
      for (const auto& image : part->images) all += image.path + folder.read(name + "/" + image.path);
    return all;
  };
  const auto one = content_of("one", 1, 1);
  EXPECT_TRUE(one == content_of("three", 1, 3));
  EXPECT_FALSE(one == content_of("other", 2, 3));
}

TEST(Learnable, NoImageOfValIsInTrain) {
  std::set<std::vector<uint8_t>> seen;
  ImageMaker maker;
  for (int64_t i = 0; i < 120; ++i)
    EXPECT_TRUE(seen.insert(maker.make(plan_learnable_image(1, i, 80, 40))).second) << i;
}

TEST(Learnable, ClassesTakeTurnsInBothParts) {
  for (int64_t i = 0; i < 120; ++i) {
    const std::string path = plan_learnable_image(1, i, 80, 40).path;
    EXPECT_EQ(path.rfind(i < 80 ? "train/" : "val/", 0), 0u) << path;
    EXPECT_SAYS(path, "/n000000" + std::to_string(i % 40 / 10) + std::to_string(i % 10) + "/");
  }
}

TEST(Learnable, AnotherSetInTheFolderIsRefused) {
  DatasetFolder folder;
  make_standin(learnable(folder.path / "set", 1, 2));
  auto other = learnable(folder.path / "set", 1, 2);
  other.validation = 0;
  EXPECT_SAYS(failure_of([&] { make_standin(other); }), "40 images to validate");
  auto many = learnable(folder.path / "many", 1, 2);
  many.classes = kLearnableClasses + 1;
  EXPECT_SAYS(failure_of([&] { make_standin(many); }), "--classes must be at most 40");
}

TEST(Learnable, AMissingImageIsNoticedAndMadeAgain) {
  DatasetFolder folder;
  const auto options = learnable(folder.path / "set", 1, 2);
  make_standin(options);
  std::filesystem::remove(options.out / plan_learnable_image(1, 100, 80, 40).path);
  EXPECT_SAYS(failure_of([&] { scan_validation(scan_dataset(options.out)); }), "holds no image");
  EXPECT_EQ(make_standin(options).written, 1);
  EXPECT_EQ(scan_validation(scan_dataset(options.out)).images.size(), 40u);
}

TEST(ScanValidation, LabelsAreThoseOfTrain) {
  DatasetFolder folder;
  folder.write_small_set("set");  // classes n00, n01, n02
  folder.write("set/val/n02/a.JPEG", "x");
  folder.write("set/val/n01/b.JPEG", "x");
  const Dataset train = scan_dataset(folder.path / "set");
  ASSERT_TRUE(has_validation(train));
  const Dataset val = scan_validation(train);
  ASSERT_EQ(val.images.size(), 2u);
  EXPECT_EQ(val.images[0].label, 1);
  EXPECT_EQ(val.images[1].label, 2);
  EXPECT_EQ(val.images[1].path, "val/n02/a.JPEG");
  EXPECT_NE(val.fingerprint, train.fingerprint);
  EXPECT_EQ(train.fingerprint, scan_dataset(folder.path / "set").fingerprint) << "val is no part of it";
}

TEST(ScanValidation, FoldersThatCanNotBeMeasuredOnSayWhy) {
  DatasetFolder folder;
  folder.write_small_set("set");
  const auto problem = [&] {
    return failure_of([&] { scan_validation(scan_dataset(folder.path / "set")); });
  };
  EXPECT_FALSE(has_validation(scan_dataset(folder.path / "set")));
  folder.write("set/val/a.JPEG", "x");
  EXPECT_SAYS(problem(), "/val: it holds images without class folders");
  folder.write("set/val/n01/b.JPEG", "x");
  EXPECT_EQ(problem(), "");
  std::filesystem::create_directories(folder.path / "set/val/n02");
  EXPECT_SAYS(problem(), "class folder n02 holds no image");
  folder.write("set/val/n02/c.JPEG", "x");
  folder.write("set/val/n07/d.JPEG", "x");
  EXPECT_SAYS(problem(), "class folder n07 is not in train");
}

}  // namespace bench::validation_index_test
