// unit: the stand-in set: its statistics, its classes, and that a seed alone decides its bytes
#include <gtest/gtest.h>
#include <jpeglib.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <future>
#include <iterator>
#include <numeric>

#include "bench/dataset/scan.h"
#include "bench/dataset/standin.h"
#include "bench/dataset/standin_image.h"
#include "bench/dataset/standin_record.h"
#include "harness/base/interrupt.h"
#include "tests/support/dataset_folder.h"
#include "tests/support/failure_of.h"

namespace bench::dataset_standin_test {

// Every pixel, so that a broken or truncated stream shows as a warning; libjpeg's own exit ends the test.
long warnings_of(std::span<const uint8_t> bytes, const ImagePlan& plan) {
  jpeg_decompress_struct info;
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, bytes.data(), bytes.size());
  jpeg_read_header(&info, TRUE);
  EXPECT_EQ(info.comp_info[0].h_samp_factor, plan.half_chroma ? 2 : 1);
  jpeg_start_decompress(&info);
  EXPECT_EQ(std::pair(int(info.output_width), int(info.output_height)), std::pair(plan.width, plan.height));
  std::vector<uint8_t> row(size_t(info.output_width) * size_t(info.output_components));
  for (uint8_t* rows[] = {row.data()}; info.output_scanline < info.output_height;)
    jpeg_read_scanlines(&info, rows, 1);
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  return errors.num_warnings;
}

TEST(Standin, StatisticsAreThoseOfImageNet) {
  double bytes = 0, planned = 0, width = 0, height = 0, pixels = 0, half = 0;
  ImageMaker maker;
  for (int64_t i = 0; i < 300; ++i) {
    const auto plan = plan_image(1, i, 100);
    bytes += static_cast<double>(maker.make(plan).size());
    planned += plan.bytes;
    width += plan.width / 300.0;
    height += plan.height / 300.0;
    pixels += static_cast<double>(plan.width) * plan.height / 300;
    half += plan.half_chroma / 300.0;
  }
  EXPECT_NEAR(bytes / 300, 114'700, 114'700 * 0.05);
  EXPECT_NEAR(bytes / planned, 1, 0.02);
  EXPECT_NEAR(width, 482, 20);
  EXPECT_NEAR(height, 415, 20);
  EXPECT_NEAR(pixels, 203e3, 10e3);
  EXPECT_NEAR(half, 0.1, 0.03);
}

TEST(Standin, PlannedBytesOfLargerSetsAreWithinThreePercent) {
  for (const int64_t images : {500, 1000, 5424}) {
    double bytes = 0;
    for (int64_t i = 0; i < images; ++i) bytes += plan_image(1, i, 100).bytes;
    EXPECT_NEAR(bytes / static_cast<double>(images), 114'700, 114'700 * 0.03) << images;
  }
}

TEST(Standin, FilesAreWhatTheirPlanSaysAndDecodeWithoutWarning) {
  ImageMaker maker;
  int half = 0;
  for (int64_t i = 0; i < 100; ++i) {
    const ImagePlan plan = plan_image(1, i, 100);
    EXPECT_EQ(warnings_of(maker.make(plan), plan), 0) << i;
    half += plan.half_chroma;
  }
  EXPECT_GT(half, 0);
}

TEST(Standin, CropsTellTheHueOfTheirClass) {
  Picture picture;
  Random random(5);
  int right = 0;
  constexpr int kPictures = 100;
  for (int i = 0; i < kPictures; ++i) {
    picture.paint(320, 240, false, i, 1000 + i, /*learnable=*/false);
    const auto& planes = picture.develop(2);
    const int left = static_cast<int>(random.uniform(0, 200)), top = static_cast<int>(random.uniform(0, 140));
    double cb = 0, cr = 0;
    for (int y = top; y < top + 100; ++y)
      for (int x = left; x < left + 120; ++x) {
        cb += planes.data[1][static_cast<size_t>(y) * planes.stride[1] + x] - 128;
        cr += planes.data[2][static_cast<size_t>(y) * planes.stride[2] + x] - 128;
      }
    const auto hue = std::lround(std::atan2(cr, cb) / (2 * 3.14159265358979) * 10 + 10) % 10;
    right += hue == i % 10;
  }
  EXPECT_GT(right, kPictures * 6 / 10);
}

TEST(Standin, BytesDependOnTheSeedAndNotOnTheThreads) {
  DatasetFolder folder;
  auto content_of = [&](const std::string& name, int64_t seed, int threads) {
    make_standin({folder.path / name, 55, 10, seed, threads});
    std::string all;
    for (const auto& image : scan_dataset(folder.path / name).images)
      all += image.path + folder.read(name + "/" + image.path);
    return all;
  };
  const auto one = content_of("one", 1, 1);
  EXPECT_TRUE(one == content_of("three", 1, 3));
  EXPECT_FALSE(one == content_of("other", 2, 3));
}

TEST(Standin, InterruptedSetIsRefusedThenFinishedWithTheSameBytes) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer ends a process that starts threads after a fork";
#endif
  DatasetFolder folder;
  const StandinOptions options{folder.path / "set", 12, 4, 1, 2};
  make_standin(options);
  const auto fingerprint = scan_dataset(options.out).fingerprint;
  EXPECT_EQ(make_standin(options).written, 0);
  std::filesystem::remove(options.out / plan_image(1, 5, 4).path);
  EXPECT_SAYS(failure_of([&] { scan_dataset(options.out); }), "should hold 12 images but holds 11");
  const auto interrupted = [&] {  // in a process of its own: an interrupt can't be taken back
    base::note_interrupts();
    std::raise(SIGINT);
    try {
      make_standin(options);
    } catch (const base::Interrupted&) {
      _exit(130);
    }
    _exit(0);
  };
  EXPECT_EXIT(interrupted(), testing::ExitedWithCode(130), "");
  EXPECT_FALSE(read_standin_record(options.out)->finished);
  EXPECT_SAYS(failure_of([&] { scan_dataset(options.out); }), "unfinished");
  const auto draft =
      options.out / (plan_image(1, 5, 4).path + ".7-1.partial");  // of a program that was killed
  std::ofstream(draft) << "half";
  EXPECT_EQ(make_standin(options).written, 1);
  EXPECT_EQ(scan_dataset(options.out).fingerprint, fingerprint);
  EXPECT_FALSE(std::filesystem::exists(draft));
}

TEST(Standin, TwoProgramsAtOnceMakeEachImageOnce) {
  DatasetFolder folder;
  const StandinOptions options{folder.path / "set", 40, 4, 1, 1};
  auto other = std::async(std::launch::async, [&] { return make_standin(options).written; });
  const int64_t own = make_standin(options).written;
  EXPECT_EQ(own + other.get(), 40);
}

TEST(Standin, SetOfAnotherGeneratorVersionIsMadeAgain) {
  DatasetFolder folder;
  const StandinOptions options{folder.path / "set", 6, 3, 1, 1};
  make_standin(options);
  const auto fingerprint = scan_dataset(options.out).fingerprint;
  for (const auto& image : scan_dataset(options.out).images) folder.write("set/" + image.path, "old");
  write_standin_record(options.out, {1, 6, 3, kStandinVersion - 1, true});
  EXPECT_EQ(make_standin(options).written, 6);
  EXPECT_EQ(scan_dataset(options.out).fingerprint, fingerprint);
}

TEST(Standin, RefusesWhatItMustNotOverwrite) {
  DatasetFolder folder;
  EXPECT_SAYS(failure_of([&] { make_standin({folder.path, 0, 4, 1, 1}); }), "at least 1");
  folder.write("real/train/n01440764/n01440764_1.JPEG", "x");
  EXPECT_SAYS(failure_of([&] { make_standin({folder.path / "real", 4, 4, 1, 1}); }), "not a stand-in");
  make_standin({folder.path / "set", 4, 4, 1, 1});
  EXPECT_SAYS(failure_of([&] { make_standin({folder.path / "set", 5, 4, 1, 1}); }), "requested");
}

}  // namespace bench::dataset_standin_test
