// unit: listing a data set: order, labels, the index file, the fingerprint, and what is said about bad
// folders
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <future>
#include <vector>

#include "bench/dataset/scan.h"
#include "harness/base/file.h"
#include "tests/support/dataset_folder.h"
#include "tests/support/failure_of.h"

namespace bench::dataset_test {

TEST(Index, ListsImagesByClassThenNameWithLabels) {
  DatasetFolder folder;
  folder.write_small_set("set");
  folder.write("set/train/n01/notes.txt", "no image");
  folder.write("set/train/.hidden/n_0.JPEG", "no class");
  const auto dataset = scan_dataset(folder.path / "set");
  ASSERT_EQ(dataset.images.size(), 6u);
  EXPECT_EQ(dataset.classes, (std::vector<std::string>{"n00", "n01", "n02"}));
  EXPECT_EQ(dataset.images[0].path, "train/n00/n_0.JPEG");
  EXPECT_EQ(dataset.images[5].path, "train/n02/n_2.JPEG");
  EXPECT_EQ(dataset.images[5].label, 2);
  EXPECT_EQ(dataset.images[5].bytes, 6003);
  EXPECT_EQ(dataset.kind, "folder");
  EXPECT_EQ(dataset.total_bytes(), 1 + 3001 + 3002 + 6001 + 6002 + 6003);
}

TEST(Index, ComesBackFromItsFile) {
  DatasetFolder folder;
  folder.write_small_set("set");
  const auto dataset = scan_dataset(folder.path / "set");
  write_index(dataset, folder.path / "store/index.tsv");
  const auto again = read_index(folder.path / "store/index.tsv");
  EXPECT_EQ(again.root, dataset.root);
  EXPECT_EQ(again.fingerprint, dataset.fingerprint);
  EXPECT_EQ(again.classes, dataset.classes);
  ASSERT_EQ(again.images.size(), dataset.images.size());
  for (size_t i = 0; i < again.images.size(); ++i) {
    EXPECT_EQ(again.images[i].path, dataset.images[i].path);
    EXPECT_EQ(again.images[i].label, dataset.images[i].label);
    EXPECT_EQ(again.images[i].bytes, dataset.images[i].bytes);
  }
}

TEST(Index, DamagedFileIsRefusedWithItsLine) {
  DatasetFolder folder;
  folder.write_small_set("set");
  write_index(scan_dataset(folder.path / "set"), folder.path / "index.tsv");
  const auto good = folder.read("index.tsv");
  auto error_with = [&](const std::string& text) {
    folder.write("bad.tsv", text);
    return failure_of([&] { read_index(folder.path / "bad.tsv"); });
  };
  EXPECT_SAYS(error_with(good.substr(0, good.find("train/n02/n_2"))), "bad.tsv:7: expected");
  EXPECT_SAYS(error_with(good.substr(0, good.rfind("2\t"))), "ends after 5 of 6");
  EXPECT_SAYS(error_with("{}\n"), "bad.tsv:1: this is not the header");
  EXPECT_SAYS(error_with(""), "not the header");
  EXPECT_SAYS(failure_of([&] { read_index(folder.path / "none.tsv"); }), "make_dataset index");
}

TEST(Fingerprint, ChangesWithNamesSizesAndContentOnly) {
  DatasetFolder folder;
  folder.write_small_set("a");
  folder.write_small_set("b");
  auto of = [&](const std::string& name) { return scan_dataset(folder.path / name).fingerprint; };
  const auto before = of("a");
  EXPECT_EQ(before.size(), 16u);
  EXPECT_EQ(before, of("b")) << "where the set lies must not matter";
  folder.write("b/train/n00/n_0.JPEG", "z");
  EXPECT_NE(before, of("b")) << "content";
  folder.write("b/train/n00/n_0.JPEG", "aa");
  EXPECT_NE(before, of("b")) << "size";
  folder.write("b/train/n00/n_0.JPEG", "a");
  EXPECT_EQ(before, of("b"));
  std::filesystem::rename(folder.path / "b/train/n00/n_0.JPEG", folder.path / "b/train/n00/n_9.JPEG");
  EXPECT_NE(before, of("b")) << "name";
}

TEST(Scan, MissingAndEmptyFoldersSayWhatWasExpected) {
  DatasetFolder folder;
  auto error_in = [&](const std::string& name) {
    return failure_of([&] { scan_dataset(folder.path / name); });
  };
  EXPECT_SAYS(error_in("none"), "no such folder; expected DIR/train/<class>/<image>.JPEG");
  std::filesystem::create_directories(folder.path / "empty");
  EXPECT_SAYS(error_in("empty"), "no subfolder train");
  std::filesystem::create_directories(folder.path / "bare/train");
  EXPECT_SAYS(error_in("bare"), "no class folders");
  std::filesystem::create_directories(folder.path / "hollow/train/n00");
  EXPECT_SAYS(error_in("hollow"), "hold no image");
  EXPECT_EQ(error_in("none").find('\n'), std::string::npos);
}

TEST(WriteFile, SeveralWritersOfOneFileDoNotMeet) {
  const DatasetFolder folder;
  const auto file = folder.path / "index.tsv";
  std::vector<std::future<void>> writers;
  for (const char letter : {'a', 'b', 'c', 'd'})
    writers.push_back(std::async(std::launch::async, [=] {
      for (int time = 0; time < 200; ++time) base::write_whole_file(file, std::string(5000, letter), false);
    }));
  for (auto& writer : writers) EXPECT_NO_THROW(writer.get());
  const std::string content = folder.read("index.tsv");
  EXPECT_EQ(content, std::string(5000, content.at(0)));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path), {}), 1);
}

TEST(WriteFile, BelowAFileSaysWhere) {
  DatasetFolder folder;
  folder.write("file", "x");
  const auto error = failure_of([&] { base::make_folder(folder.path / "file/store"); });
  EXPECT_SAYS(error, "file/store");
  EXPECT_SAYS(error, "choose another folder");
}

TEST(WriteFile, FullDiskLeavesNothingBehind) {
  DatasetFolder folder;
  const auto disk = folder.path / "disk";
  std::filesystem::create_directories(disk);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=64k"))
    GTEST_SKIP() << "mounting a small disk needs root and leave to mount";
  const auto full = failure_of([&] { base::write_whole_file(disk / "large", std::string(1 << 20, 'x')); });
  const auto room = failure_of([&] { base::require_room(disk / "later/deeper", 1 << 20, "the test"); });
  const bool empty = std::filesystem::is_empty(disk);
  umount(disk.c_str());
  EXPECT_SAYS(full, "No space left on device; free some space");
  EXPECT_SAYS(room, "the test needs 1.0 MB");
  EXPECT_TRUE(empty);
}

}  // namespace bench::dataset_test
