// unit: the HDF5 file holds the files, both storages read it, and foreign or damaged files are refused
#include <gtest/gtest.h>

#ifndef HAVE_HDF5
TEST(Hdf5, NeedsItsLibrary) { GTEST_SKIP() << "this build found no HDF5"; }
#else

#include <functional>

#include "bench/formats/hdf5_handle.h"
#include "harness/base/process_limits.h"
#include "tests/support/failure_of.h"
#include "tests/support/stored_images.h"

#ifdef __SANITIZE_ADDRESS__
// HDF5 1.10 leaks memory when it refuses a damaged file; leaks of our code are not suppressed.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }
#endif

namespace bench::hdf5_test {

namespace fs = std::filesystem;

struct Hdf5 : testing::Test {
  TemporaryFolder folder;
  Dataset dataset = small_dataset(folder.path() / "data", 18);
  fs::path location, file;

  void SetUp() override {
    dataset.fingerprint = "0123456789abcdef";
    location = packed("hdf5").location;
    file = location / "images.h5";
  }
  PackResult packed(const std::string& name) const { return pack(dataset, folder.path() / "store", name); }
  std::unique_ptr<Storage> open(const std::string& name, std::vector<int64_t> records = {}) const {
    return open_storage(name, {dataset, location, true, std::move(records)});
  }
  std::string failure(const std::string& name = "hdf5", std::vector<int64_t> records = {}) const {
    return failure_of([&] { open(name, records); });
  }
};

// A file as pack_hdf5.cpp writes it, except for the test's changes.
struct Recipe {
  std::string fingerprint = "0123456789abcdef";
  std::vector<int64_t> offsets{0, 3, 3, 10}, labels{1, 0, 1};
  hsize_t image_bytes = 10;
  hid_t image_type = H5T_STD_U8LE, offset_type = H5T_STD_I64LE;
  bool chunked = false, unwritten = false, without_labels = false, reserved = false, old_format = false;
};

void add_dataset(hid_t file, const char* name, hid_t type, hsize_t count, const Recipe& recipe,
                 hid_t memory_type, const void* values) {
  const Hdf5Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose, name);
  const Hdf5Handle layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, name);
  const hsize_t chunk = 4;
  if (recipe.chunked) H5Pset_chunk(layout.id(), 1, &chunk);
  if (recipe.reserved) {
    H5Pset_alloc_time(layout.id(), H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(layout.id(), H5D_FILL_TIME_NEVER);
  }
  const Hdf5Handle dataset(H5Dcreate2(file, name, type, space.id(), H5P_DEFAULT, layout.id(), H5P_DEFAULT),
                           H5Dclose, name);
  if (values) H5Dwrite(dataset.id(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
}

void make_file(const fs::path& path, const Recipe& recipe) {
  fs::remove(path);
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, path);
  if (!recipe.old_format) H5Pset_libver_bounds(access.id(), H5F_LIBVER_V18, H5F_LIBVER_V18);
  const Hdf5Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), H5Fclose, path);
  const Hdf5Handle scalar(H5Screate(H5S_SCALAR), H5Sclose, path), text(H5Tcopy(H5T_C_S1), H5Tclose, path);
  H5Tset_size(text.id(), recipe.fingerprint.size() + 1);
  const Hdf5Handle attribute(
      H5Acreate2(file.id(), "fingerprint", text.id(), scalar.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose, path);
  H5Awrite(attribute.id(), text.id(), recipe.fingerprint.c_str());
  const std::string images(recipe.reserved ? 0 : recipe.image_bytes, 'x');
  const bool empty = recipe.unwritten || recipe.reserved;
  add_dataset(file.id(), "images", recipe.image_type, recipe.image_bytes, recipe, H5T_NATIVE_UINT8,
              empty ? nullptr : images.data());
  const auto integers = [&](const char* name, const std::vector<int64_t>& values) {
    add_dataset(file.id(), name, recipe.offset_type, values.size(), {}, H5T_NATIVE_INT64, values.data());
  };
  integers("offsets", recipe.offsets);
  if (!recipe.without_labels) integers("labels", recipe.labels);
}

TEST_F(Hdf5, WholeKeepsTheSliceAndReadsReplacementsFromTheFile) {
  EXPECT_EQ(packed("hdf5_whole").note, "already packed");
  EXPECT_EQ(packed("hdf5_whole").location, location);
  const auto storage = open("hdf5_whole", {2, 3, 11});
  EXPECT_EQ(storage->used(), "hdf5_whole");
  EXPECT_TRUE(storage->cached_files({1}).empty());
  const auto reader = storage->reader();
  expect_record(reader->read(4), dataset, 4);
  const Bytes kept = read_bytes(dataset.root / dataset.images[11].path);
  fs::resize_file(file, 4096);  // from here on only memory has the images
  const EncodedImage image = reader->read(11);
  EXPECT_EQ(Bytes(image.bytes.begin(), image.bytes.end()), kept);
  EXPECT_THROW(reader->read(17), std::runtime_error);
}

TEST_F(Hdf5, WholeIsRefusedWhereMemoryIsShort) {
  const int64_t bytes = base::process_limits().free_memory_bytes + (int64_t{1} << 32);
  Recipe recipe{.offsets = {0}, .labels = {}, .image_bytes = static_cast<hsize_t>(bytes), .reserved = true};
  while (recipe.offsets.back() < bytes) {
    recipe.offsets.push_back(std::min(bytes, recipe.offsets.back() + (int64_t{1} << 29)));
    recipe.labels.push_back(0);
  }
  try {
    make_file(file, recipe);  // a hole, which takes no room on the disk
  } catch (const std::runtime_error& error) {
    GTEST_SKIP() << "this file system keeps no file of " << bytes << " bytes: " << error.what();
  }
  dataset.images.resize(recipe.labels.size());
  const std::string message = failure("hdf5_whole");
  EXPECT_SAYS(message, "MiB are free");
  EXPECT_SAYS(message, "or storage hdf5");
  EXPECT_EQ(failure("hdf5"), "");
}

TEST_F(Hdf5, ImageOfMoreThanAGibibyteIsRefused) {
  const int64_t bytes = int64_t{3} << 30;
  make_file(
      file,
      {.offsets = {0, bytes}, .labels = {0}, .image_bytes = static_cast<hsize_t>(bytes), .reserved = true});
  dataset.images.resize(1);
  const auto storage = open("hdf5");
  EXPECT_THROW(storage->reader()->read(0), std::runtime_error);
  EXPECT_SAYS(failure("hdf5_whole"), "record 0 of " + file.string() + " is larger than 1 GiB");
}

TEST_F(Hdf5, ImagesLargerThanAPieceAreWrittenWhole) {
  auto& images = dataset.images;
  images.resize(4);
  for (size_t i = 0; i < 4; ++i) {
    Bytes bytes(i == 1 ? 20'000'000 : i == 2 ? 0 : 5'000'000);
    for (size_t j = 0; j < bytes.size(); ++j) bytes[j] = static_cast<uint8_t>(j * (i + 3) >> 3);
    write_bytes(dataset.root / images[i].path, bytes);
    images[i].bytes = static_cast<int64_t>(bytes.size());
  }
  location = packed("hdf5").location;
  const auto storage = open("hdf5");
  const auto reader = storage->reader();
  for (int64_t record = 0; record < 4; ++record) expect_record(reader->read(record), dataset, record);
}

TEST_F(Hdf5, ForeignFilesAreRefused) {
  dataset.images.resize(3);
  const auto says = [&](const Recipe& recipe) {
    make_file(file, recipe);
    return failure();
  };
  EXPECT_EQ(says({}), "");
  EXPECT_EQ(open("hdf5")->reader()->read(2).bytes.size(), 7u);
  EXPECT_SAYS(says({.fingerprint = "another"}), "it holds the data set another, expected 0123456789abcdef");
  EXPECT_SAYS(says({.fingerprint = std::string(5000, 'x')}), "attribute fingerprint isn't a short string");
  EXPECT_SAYS(says({.without_labels = true}), "dataset labels can't be opened");
  EXPECT_SAYS(says({.image_type = H5T_STD_U16LE}), "the elements of dataset images are not 1-byte integers");
  EXPECT_SAYS(says({.image_type = H5T_IEEE_F32LE}), "the elements of dataset images are not 1-byte integers");
  EXPECT_SAYS(says({.offset_type = H5T_STD_I32LE}),
              "the elements of dataset offsets are not 8-byte integers");
  EXPECT_SAYS(says({.old_format = true}), "its metadata has no checksums");
  EXPECT_SAYS(says({.chunked = true}), "dataset images isn't contiguous");
  EXPECT_SAYS(says({.unwritten = true}), "dataset images was never written");
  EXPECT_SAYS(says({.image_bytes = 1 << 20, .unwritten = true}), "more than the file can hold");
  EXPECT_SAYS(says({.offsets = {0, 7, 3, 10}}), "its offsets don't ascend from 0 to the 10 bytes");
  EXPECT_SAYS(says({.offsets = {0, 3, 3, 11}}), "its offsets don't ascend");
  EXPECT_SAYS(says({.offsets = {-4, 3, 3, 10}}), "its offsets don't ascend");
  EXPECT_SAYS(says({.labels = {1, 1}}), "4 offsets for 2 labels");
  EXPECT_EQ(says({.offset_type = H5T_STD_I64BE}), "") << "another byte order is valid";
  EXPECT_EQ(open("hdf5")->reader()->read(0).bytes.size(), 3u);
}

TEST_F(Hdf5, WhatIsNoHdf5FileIsNamed) {
  const auto bytes = fs::file_size(file);
  fs::resize_file(file, bytes / 2);
  EXPECT_SAYS(failure(), file.string() + ": it can't be opened: ");
  EXPECT_SAYS(failure(), "make_dataset pack --to hdf5");
  write_bytes(file, Bytes(20'000, 7));
  EXPECT_SAYS(failure(), "it is not an HDF5 file");
  write_bytes(file, {});
  EXPECT_SAYS(failure(), "it is not an HDF5 file");
  fs::remove(file);
  EXPECT_SAYS(failure("hdf5_whole"), "No such file");
}

TEST_F(Hdf5, DamagedDescriptionNeverEndsTheProcess) {
  dataset.images.resize(3);
  make_file(file, {});
  const Bytes good = read_bytes(file);
  int refused = 0;
  for (size_t i = 0; i < good.size(); i += 3) {
    Bytes bytes = good;
    bytes[i] ^= static_cast<uint8_t>(1 << i % 8 | 0x20);
    write_bytes(file, bytes);
    try {
      const auto storage = open("hdf5");
      for (int64_t record = 0; record < 3; ++record) storage->reader()->read(record);
    } catch (const std::runtime_error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 30);
}

}  // namespace bench::hdf5_test
#endif
