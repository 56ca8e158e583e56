// unit: odd and hostile files from the folder to the batch: skipped and counted, in bounded time and memory.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <iterator>
#include <map>
#include <random>

#include "bench/dataset/scan.h"
#include "bench/image/decode.h"
#include "harness/base/stopwatch.h"
#include "tests/fuzz/decode_case.h"
#include "tests/support/damaged_images.h"
#include "tests/support/loaded_batches.h"

namespace bench::hostile_files_test {

namespace fs = std::filesystem;

// AddressSanitizer adds its quarantine of freed memory and its shadow memory.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int64_t kMostMemory = 1400, kMostSeconds = 60;
#else
constexpr int64_t kMostMemory = 600, kMostSeconds = 10;
#endif

int64_t peak_memory_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmHWM:" && status >> word) return std::stoll(word) / 1024;
  return -1;
}

// In time and in the peak growth of resident memory.
template <class Action>
void expect_bounded(const std::string& name, const Action& action) {
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak is what is resident now
  const int64_t before = peak_memory_mib();
  const base::Stopwatch watch;
  action();
  EXPECT_LT(watch.s(), kMostSeconds) << name;
  EXPECT_LT(peak_memory_mib() - before, kMostMemory) << name;
}

enum class Decoded { refused, whole };

Decoded decode_all(Decoder& decoder, const Bytes& encoded, int side = 32) {
  Bytes pixels(static_cast<size_t>(3 * side * side));
  try {
    const ImageSize size = decoder.size(encoded);
    decoder.crop_to_uint8(encoded, {{0, 0, size.width, size.height}, false}, side, pixels.data());
    return Decoded::whole;
  } catch (const BadImage&) {
    return Decoded::refused;
  }
}

TEST(Hostile, CutsAtEveryMarkerAreRefused) {
  Decoder decoder;
  const std::map<std::string, JpegKind> kinds{{"baseline", {}},
                                              {"4:2:0", {.chroma = 2}},
                                              {"progressive", {.chroma = 2, .progressive = true}},
                                              {"restart markers", {.restart_rows = 1}},
                                              {"four channels", {.ycck = true}}};
  for (const auto& [name, kind] : kinds) {
    const Bytes whole = small_jpeg(64, 72, 3, kind);
    EXPECT_EQ(decode_all(decoder, whole), Decoded::whole) << name;
    const size_t end_marker = marker_positions(whole).back();
    ASSERT_EQ(end_marker, whole.size() - 2) << name;
    for (const Bytes& cut : cut_at_every_marker(whole)) {
      if (cut.size() >= end_marker && !kind.progressive) continue;  // all pixels are there
      EXPECT_EQ(decode_all(decoder, cut), Decoded::refused) << name << " cut to " << cut.size() << " bytes";
    }
  }
}

TEST(Hostile, CutPngsAreRefused) {
  Decoder decoder;
  for (const bool interlaced : {false, true}) {
    const Bytes whole = png_of(40, 30, {.interlaced = interlaced});
    EXPECT_EQ(decode_all(decoder, whole), Decoded::whole);
    for (size_t size = 0; size < whole.size(); size += size < 60 ? 1 : 7)
      EXPECT_EQ(decode_all(decoder, Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))),
                Decoded::refused)
          << "cut to " << size << " of " << whole.size();
  }
}

TEST(Hostile, ClaimsOfHugeSizesCostNothing) {
  Bytes png = png_of(30, 30), interlaced = png_of(30, 30, {.interlaced = true});
  for (Bytes* claims : {&png, &interlaced}) {
    put_big_endian(*claims, 16, 30000, 4);
    put_big_endian(*claims, 20, 30000, 4);
    repair_png_checksums(*claims);
  }
  std::vector<Bytes> images{png, interlaced};
  for (const bool progressive : {false, true})
    for (const auto& [width, height] : {std::pair{65500, 65500},
                                        {13000, 13000},
                                        {65500, 2700},
                                        {2700, 65500},
                                        {65500, 1000},
                                        {65500, 8},
                                        {8, 65500}})
      images.push_back(with_claimed_size(small_jpeg(16, 16, 1, {.progressive = progressive}), width, height));
  for (const auto& [width, height] :
       {std::pair{13000, 13000}, {65500, 2700}, {2700, 65500}, {170, 999999}, {100000000, 1}})
    for (const Bytes& small : {png, interlaced}) {
      images.push_back(small);
      put_big_endian(images.back(), 16, static_cast<uint32_t>(width), 4);
      put_big_endian(images.back(), 20, static_cast<uint32_t>(height), 4);
      repair_png_checksums(images.back());
    }
  Decoder decoder;  // keeps its buffers
  expect_bounded("claims", [&] {
    for (size_t i = 0; i < images.size(); ++i)
      EXPECT_EQ(decode_all(decoder, images[i], 224), Decoded::refused) << "image " << i;
  });
}

TEST(Hostile, BombsAreBoundedInTimeAndMemory) {
  std::map<std::string, Bytes> bombs;
  const PngKind flat{.bits = 1, .colour = PNG_COLOR_TYPE_GRAY, .flat = true};
  PngKind interlaced = flat;
  interlaced.interlaced = true;
  bombs["a flat PNG"] = png_of(13000, 13000, flat);
  bombs["a tall PNG"] = png_of(2700, 65500, flat);
  bombs["an interlaced PNG"] = png_of(8000, 8000, interlaced);
  const Bytes progressive = small_jpeg(64, 64, 1, {.progressive = true});
  bombs["many scans"] = with_many_scans(progressive, 90);
  for (const auto& [name, bomb] : bombs) {
    ASSERT_LT(bomb.size(), 300'000u) << name;
    Decoder decoder;
    expect_bounded(
        name, [&, &image = bomb] { EXPECT_EQ(decode_all(decoder, image, 224), Decoded::whole) << name; });
  }
  Decoder decoder;
  EXPECT_EQ(decode_all(decoder, with_many_scans(progressive, 300)), Decoded::refused);
  EXPECT_EQ(decode_all(decoder, progressive), Decoded::whole) << "the same decoder goes on";
}

// The largest image whose coefficients are held, and about as many scans of it as are let through.
TEST(Hostile, EmptyScansOfAHugeImageAreBounded) {
  const Bytes image = small_jpeg(8100, 8100, 1, {.progressive = true, .grey = true, .flat = true});
  expect_bounded("empty scans", [&] {
    Decoder decoder;
    EXPECT_EQ(decode_all(decoder, with_many_scans(image, 15), 224), Decoded::whole);
    EXPECT_EQ(decode_all(decoder, with_many_scans(image, 90), 224), Decoded::refused);
  });
}

TEST(Hostile, InputsThatFailedOnceUnderFuzzing) {
  const fs::path folder = fs::path(SOURCE_DIR) / "tests/fuzz/cases/images";
  int cases = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    EXPECT_NO_THROW(decode_case(read_bytes(entry.path()))) << entry.path();
    ++cases;
  }
  EXPECT_GT(cases, 0);
}

// A folder with many good images (links to a few files) and one of each file that should not be there.
class HostileFolder : public testing::Test {
 protected:
  void SetUp() override {
    add_good_images();
    add_bad_images();
    add_what_is_no_file();
  }

  void add_good_images() {
    for (uint32_t i = 0; i < 5; ++i)
      write_bytes(folder_.path() / ("good" + std::to_string(i)), small_jpeg(40, 36, i));
    for (int i = 0; i < kGood; ++i) {
      const std::string name = i % 2 ? "n0" : "n1";
      fs::create_directories(train(name));
      fs::create_hard_link(folder_.path() / ("good" + std::to_string(i % 5)),
                           train(name) / ("good " + std::to_string(i) + ".JPEG"));
    }
  }

  void add_bad_images() {
    const Bytes good = small_jpeg(64, 64, 1);
    bad_["n0/00 empty.JPEG"] = {};
    bad_["n0/zz\ttab.JPEG"] = Bytes(1000, 'x');
    bad_["n0/m\xFF\xFE latin.JPEG"] = Bytes(good.begin(), good.begin() + 200);
    bad_["n1/a claim.JPEG"] = with_claimed_size(good, 65500, 65500);
    bad_["n1/m claim.JPEG"] = with_claimed_size(good, 13000, 13000);
    bad_["n1/zz png.JPEG"] = png_of(20, 20);
    bad_["n1/zz png.JPEG"].resize(60);
    for (const auto& [name, bytes] : bad_) write_bytes(train(name), bytes);
    write_bytes(train("n0/f sparse.JPEG"), {0xFF, 0xD8, 0xFF});
    fs::resize_file(train("n0/f sparse.JPEG"), uint64_t{1} << 38);
    bad_["n0/f sparse.JPEG"];
  }

  void add_what_is_no_file() {
    fs::create_directories(train("n0/folder.JPEG/deeper.JPEG"));
    ASSERT_EQ(mkfifo(train("n0/pipe.JPEG").c_str(), 0644), 0);
    fs::create_symlink("nowhere.JPEG", train("n0/dangling.JPEG"));
    fs::create_symlink("loop.JPEG", train("n0/loop.JPEG"));
    write_bytes(train("n0/line\nbreak.JPEG"), small_jpeg(20, 20, 1));
    fs::create_symlink("loop", train("loop"));
    fs::create_symlink("nowhere", train("dangling"));
    ASSERT_EQ(mkfifo(train("pipe").c_str(), 0644), 0);
  }

  fs::path train(const std::string& name) const { return folder_.path() / "train" / name; }

  // Through the index file, as run_matrix goes.
  Dataset listed() const {
    write_index(scan_dataset(folder_.path()), folder_.path() / "index.tsv");
    return read_index(folder_.path() / "index.tsv");
  }

  LoaderStats load(const Dataset& dataset, int threads) const {
    const auto storage = open_storage("files", {dataset, "", true, {}});
    const LoaderOptions options = options_for(dataset, threads, 50);
    const auto loader = started(*storage, options);
    for (int64_t i = 0; i < options.sampler.records / options.batch_size + 1; ++i)
      loader->release(loader->next());
    return loader->stats();
  }

  static constexpr int kGood = 3000;
  TemporaryFolder folder_;
  std::map<std::string, Bytes> bad_;  // by path below train/
};

TEST_F(HostileFolder, IsListedWithoutWhatIsNoFile) {
  const Dataset dataset = listed();
  EXPECT_EQ(dataset.images.size(), kGood + bad_.size());
  EXPECT_EQ(dataset.skipped, 4);  // the folder named like an image is walked
  EXPECT_EQ(dataset.classes, (std::vector<std::string>{"n0", "n1"}));
  for (const auto& [name, bytes] : bad_)
    EXPECT_EQ(
        std::count_if(dataset.images.begin(), dataset.images.end(),
                      [&, path = "train/" + name](const ImageEntry& entry) { return entry.path == path; }),
        1)
        << name;
}

TEST_F(HostileFolder, IsLoadedAndItsBadFilesAreCounted) {
  const Dataset dataset = listed();
  for (const int threads : {0, 3}) {
    LoaderStats stats;
    expect_bounded("loading", [&] { stats = load(dataset, threads); });
    EXPECT_GE(stats.images, kGood);
    EXPECT_GE(stats.bad_images, static_cast<int64_t>(bad_.size()));
    ASSERT_EQ(stats.warnings.size(), bad_.size());
    for (const auto& [name, bytes] : bad_)
      EXPECT_TRUE(std::any_of(stats.warnings.begin(), stats.warnings.end(),
                              [&, path = "train/" + name](const std::string& text) {
                                return text.find(path + ": ") != std::string::npos;
                              }))
          << name;
  }
}

TEST_F(HostileFolder, FilesThatTurnIntoSomethingElseAreCounted) {
  const Dataset dataset = listed();
  const size_t before = bad_.size();
  for (const size_t i : {100u, 700u, 1300u}) {
    const fs::path file = folder_.path() / dataset.images[i].path;
    fs::remove(file);
    if (i == 100) mkfifo(file.c_str(), 0644);
    if (i == 700) fs::create_directory(file);
    if (i == 1300) fs::create_symlink(file.filename(), file);
  }
  LoaderStats stats;
  expect_bounded("loading", [&] { stats = load(dataset, 2); });
  EXPECT_GE(stats.bad_images, static_cast<int64_t>(before + 3));
}

TEST_F(HostileFolder, FilesWithoutPermissionAreCounted) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read every file";
  for (const char* name : {"n0/locked.JPEG", "n1/locked.JPEG"}) {
    write_bytes(train(name), small_jpeg(30, 30, 1));
    fs::permissions(train(name), fs::perms::none);
  }
  const Dataset dataset = listed();
  EXPECT_EQ(dataset.images.size(), kGood + bad_.size() + 2);
  EXPECT_GE(load(dataset, 2).bad_images, static_cast<int64_t>(bad_.size() + 2));
}

TEST_F(HostileFolder, ClassNamesNeedNotBeUtf8ButMustBeOneLine) {
  fs::rename(train("n1"), train("n1 \xE9"));
  const Dataset dataset = listed();
  ASSERT_EQ(dataset.classes.size(), 2u);
  EXPECT_GE(load(dataset, 1).images, kGood);
  fs::rename(train("n1 \xE9"), train("n1\n"));
  EXPECT_THROW(scan_dataset(folder_.path()), std::runtime_error);
}

}  // namespace bench::hostile_files_test
