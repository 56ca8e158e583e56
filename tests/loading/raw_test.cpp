// unit: the copy as raw pixels equals torchvision's Resize(256) on every kind of file, keeps the numbers of
// bad images, and what is damaged in a copy is noticed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/formats/raw_index.h"
#include "bench/image/decode.h"
#include "tests/support/failure_of.h"
#include "tests/support/loaded_batches.h"

namespace bench::raw_test {

namespace fs = std::filesystem;

const fs::path kGolden = SOURCE_DIR "/tests/golden";

class RawPixels : public testing::Test {
 protected:
  TemporaryFolder folder_;
  Dataset dataset_;

  void add(const std::string& name, const Bytes& bytes) {
    dataset_.root = folder_.path() / "data";
    const std::string path = "train/n00000000/" + name;
    write_bytes(dataset_.root / path, bytes);
    dataset_.images.push_back(
        {path, static_cast<int64_t>(dataset_.images.size()) % 5, static_cast<int64_t>(bytes.size())});
  }
  void add_small_images(int count) {
    for (int i = 0; i < count; ++i)
      add(fmt::format("{:03}.JPEG", i), small_jpeg(30 + i % 7 * 5, 24 + i % 5 * 6, static_cast<uint32_t>(i)));
  }
  PackResult packed() { return pack(dataset_, folder_.path() / "store", "raw"); }
  std::unique_ptr<Storage> open(const fs::path& location) {
    return open_storage("raw", {dataset_, location, true, {}});
  }
};

TEST_F(RawPixels, EqualTorchvisionsResize) {
  struct Case {
    std::string name;
    int width, height;
  };
  std::vector<Case> cases;
  std::ifstream list(kGolden / "raw/cases.txt");
  for (Case row; list >> row.name >> row.width >> row.height;) cases.push_back(row);
  ASSERT_EQ(cases.size(), 14u);
  for (const Case& row : cases) add(row.name, read_bytes(kGolden / "pixels" / row.name));
  const auto storage = open(packed().location);
  EXPECT_EQ(storage->used(), "raw");
  const auto reader = storage->reader();
  const Bytes expected = read_bytes(kGolden / "raw/expected.bin");
  size_t place = 0;
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(cases[i].name);
    const EncodedImage image = reader->read(static_cast<int64_t>(i));
    EXPECT_EQ(image.label, dataset_.images[i].label);
    ASSERT_EQ(image.raw_width, cases[i].width);
    ASSERT_EQ(image.raw_height, cases[i].height);
    const size_t row = size_t{3} * image.raw_width;
    ASSERT_EQ(image.bytes.size(), row * image.raw_height);
    int most = 0;
    for (size_t y = 5; y < static_cast<size_t>(image.raw_height); y += 32)
      for (size_t x = 0; x < row; ++x)
        most = std::max(most, std::abs(image.bytes[y * row + x] - expected.at(place++)));
    EXPECT_LE(most, 1);
  }
  EXPECT_EQ(place, expected.size());
}

TEST_F(RawPixels, AreWhatTheDecoderTakes) {
  add_small_images(3);
  const auto storage = open(packed().location);
  const EncodedImage image = storage->reader()->read(1);
  Decoder decoder;
  const ImageSize size = decoder.size(image);
  EXPECT_EQ(size.width, image.raw_width);
  Bytes crop(size_t{3} * 256 * 256);
  decoder.crop(image, {{0, 0, 256, 256}, false}, 256, BatchFormat::uint8, crop.data());
  for (size_t y = 0; y < 256; ++y)
    ASSERT_TRUE(std::equal(crop.begin() + static_cast<std::ptrdiff_t>(768 * y),
                           crop.begin() + static_cast<std::ptrdiff_t>(768 * (y + 1)),
                           image.bytes.begin() + static_cast<std::ptrdiff_t>(3 * y * image.raw_width)));
}

TEST_F(RawPixels, KeepTheNumbersOfBadImages) {
  const Bytes good = small_jpeg(60, 40, 1);
  add("0.JPEG", Bytes(good.begin(), good.begin() + 300));
  add("1.JPEG", {});
  add("2.JPEG", good);
  add("3.JPEG", small_jpeg(6500, 100, 2));  // a side of 256 would make the other 16,640
  add("4.JPEG", {'n', 'o', 'n', 'e'});
  for (int i = 5; i < 37; ++i) add(fmt::format("{}.JPEG", i), small_jpeg(20 + i, 30, 3));
  const PackResult made = packed();
  EXPECT_SAYS(made.note, "packed 37 images, 4 of them without pixels");
  const auto storage = open(made.location);
  const auto reader = storage->reader();
  for (const int64_t bad : {0, 1, 3, 4})
    EXPECT_SAYS(failure_of([&] { reader->read(bad); }), "could not be decoded") << bad;
  EXPECT_EQ(reader->read(2).raw_width, 384);
  for (int i = 5; i < 37; ++i) EXPECT_EQ(reader->read(i).label, i % 5);
  EXPECT_EQ(reader->read(36).raw_width, 256 * 56 / 30);
}

TEST_F(RawPixels, OfNothingButBadImages) {
  for (const char* name : {"0.JPEG", "1.JPEG", "2.JPEG"}) add(name, Bytes(50, 3));
  const auto storage = open(packed().location);
  EXPECT_THROW(storage->reader()->read(1), std::runtime_error);
}

TEST_F(RawPixels, CutOffFilesAreNamed) {
  add_small_images(12);
  const auto location = packed().location;
  const Bytes index = read_bytes(location / "index.bin");
  for (size_t size = 0; size < index.size(); ++size) {
    write_bytes(location / "index.bin",
                Bytes(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(size)));
    EXPECT_SAYS(failure_of([&] { open(location); }), "index.bin") << size;
  }
  write_bytes(location / "index.bin", index);
  const auto shard = location / "train-00002-of-00004.rgb";
  for (const auto size : {fs::file_size(shard) - 1, uintmax_t{0}}) {
    fs::resize_file(shard, size);
    EXPECT_SAYS(failure_of([&] { open(location); }), "train-00002-of-00004.rgb is cut off");
  }
}

void flip(const fs::path& file, size_t at, uint8_t bits) {
  std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
  const int byte = stream.seekg(static_cast<std::streamoff>(at)).get();
  stream.seekp(static_cast<std::streamoff>(at)).put(static_cast<char>(byte ^ bits));
}

TEST_F(RawPixels, ADamagedRecordIsNamedAndOthersAreRead) {
  add_small_images(12);
  const auto location = packed().location;
  const auto shard = location / "train-00001-of-00004.rgb";
  for (const size_t at : {size_t{0}, static_cast<size_t>(fs::file_size(shard)) / 2}) {
    flip(shard, at, 0x10);
    const auto storage = open(location);
    const auto reader = storage->reader();
    int refused = 0;
    for (int64_t record = 0; record < 12; ++record) {
      const std::string message = failure_of([&] { reader->read(record); });
      if (message.empty()) continue;
      ++refused;
      EXPECT_TRUE(record >= 3 && record < 6) << record;
      EXPECT_SAYS(message, fmt::format("record {} in {}: the checksum", record, shard.string()));
    }
    EXPECT_EQ(refused, 1) << "byte " << at;
    flip(shard, at, 0x10);
  }
}

TEST_F(RawPixels, DamagedRecordsAreBadImages) {
  add_small_images(300);
  const auto location = packed().location;
  flip(location / "train-00001-of-00004.rgb", 1000, 0x01);
  flip(location / "train-00003-of-00004.rgb", 5000, 0x80);
  const auto storage = open(location);
  LoaderOptions options = options_for(dataset_, 2, 50);
  options.classes = 5;
  const auto loader = started(*storage, options);
  for (int batch = 0; batch < 6; ++batch) loader->release(loader->next());
  EXPECT_GE(loader->stats().bad_images, 2);
}

TEST_F(RawPixels, CopiesOfAnEarlierFormatArePackedAgain) {
  add_small_images(12);
  const auto location = packed().location;
  const Bytes now = read_bytes(location / "index.bin");
  write_bytes(location / "index.bin", {'R', 'A', 'W', 'I', 'D', 'X', '0', '1'});  // without checksums
  const fs::path file = location.string() + ".pack.json";
  auto record = nlohmann::json::parse(std::ifstream(file));
  record["version"] = 1;
  std::ofstream(file) << record;
  testing::internal::CaptureStderr();
  EXPECT_EQ(packed().note, "packed 12 images");
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_SAYS(said, location.string() + " was packed in format 1 and this version reads format 2");
  EXPECT_EQ(read_bytes(location / "index.bin"), now);
}

// Only what make_dataset packed may be removed.
TEST_F(RawPixels, AdviceDependsOnWhoPackedThem) {
  add_small_images(12);
  dataset_.fingerprint = "0123456789abcdef";
  const auto own = pack(dataset_, folder_.path() / "store" / dataset_.fingerprint, "raw").location;
  const auto foreign = folder_.path() / "mine";
  fs::copy(own, foreign);
  const auto damage = [&](const fs::path& location) {
    flip(location / "train-00000-of-00004.rgb", 7, 0xFF);
    const std::string record = failure_of([&] { open(location)->reader()->read(0); });
    fs::resize_file(location / "index.bin", 100);
    return record + "\n" + failure_of([&] { open(location); });
  };
  const std::string ours = damage(own), theirs = damage(foreign);
  EXPECT_SAYS(ours, "remove the folder " + own.string());
  EXPECT_SAYS(theirs, "restore what is damaged");
  EXPECT_EQ(theirs.find("remove"), std::string::npos) << theirs;
}

// Any wrong number in the index is detected, and nothing outside the shard is read.
TEST_F(RawPixels, DamagedIndexNeverCrashes) {
  add_small_images(12);
  const auto location = packed().location;
  const Bytes whole = read_bytes(location / "index.bin");
  std::fstream stream(location / "index.bin", std::ios::binary | std::ios::in | std::ios::out);
  const auto put = [&](size_t at, int byte) {
    stream.seekp(static_cast<std::streamoff>(at)).put(static_cast<char>(byte)).flush();
  };
  uint64_t sum = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int change : {0x01, 0x80, 0xFF, 0}) {
      int refused = 0;
      put(at, whole[at] ^ change);
      try {
        const auto storage = open(location);
        const auto reader = storage->reader();
        for (int64_t record = 0; record < 12; ++record) try {
            const EncodedImage image = reader->read(record);
            EXPECT_EQ(image.bytes.size(), size_t{3} * image.raw_width * image.raw_height);
            sum += image.bytes.front() + image.bytes.back();
          } catch (const std::runtime_error&) {
            ++refused;
          }
      } catch (const std::runtime_error&) {
        ++refused;
      }
      EXPECT_EQ(refused > 0, change != 0) << "byte " << at;
    }
  }
  EXPECT_GT(sum, 0u);
}

}  // namespace bench::raw_test
