// unit: packed copies hold exactly the files, in index order, and an interrupted pack is never used
#include <gtest/gtest.h>
#include <lmdb.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <future>
#include <optional>
#include <set>

#include "bench/dataset/commands.h"
#include "bench/dataset/pack.h"
#include "bench/dataset/scan.h"
#include "harness/base/file_lock.h"
#include "harness/base/interrupt.h"
#include "harness/base/scratch.h"
#include "tests/support/dataset_folder.h"
#include "tests/support/failure_of.h"

namespace bench::dataset_pack_test {

struct Packing : testing::Test {
  DatasetFolder folder;
  PackRequest request;
  void SetUp() override {
    folder.write_small_set("set");
    request.dataset = scan_dataset(folder.path / "set");
    request.folder = folder.path / "store";
    std::filesystem::create_directories(request.folder);
  }
  PackResult pack_lmdb() { return PackRegistry::instance().find("lmdb")(request); }
  std::string original(size_t record) { return folder.read("set/" + request.dataset.images[record].path); }
};

// All (key, value) pairs in key order, read as a storage would: no lock file, read only.
std::vector<std::pair<std::string, std::string>> contents(const std::filesystem::path& location) {
  std::vector<std::pair<std::string, std::string>> out;
  MDB_env* env = nullptr;
  MDB_txn* transaction = nullptr;
  MDB_cursor* cursor = nullptr;
  MDB_dbi table = 0;
  mdb_env_create(&env);
  EXPECT_EQ(mdb_env_open(env, location.c_str(), MDB_RDONLY | MDB_NOLOCK, 0), 0);
  EXPECT_EQ(mdb_txn_begin(env, nullptr, MDB_RDONLY, &transaction), 0);
  EXPECT_EQ(mdb_dbi_open(transaction, nullptr, 0, &table), 0);
  EXPECT_EQ(mdb_cursor_open(transaction, table, &cursor), 0);
  for (MDB_val key, value; mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0;) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(value.mv_data) % 2, 0u);
    out.emplace_back(std::string(static_cast<char*>(key.mv_data), key.mv_size),
                     std::string(static_cast<char*>(value.mv_data), value.mv_size));
  }
  mdb_cursor_close(cursor);
  mdb_txn_abort(transaction);
  mdb_env_close(env);
  return out;
}

TEST_F(Packing, LmdbHoldsLabelsAndFilesInIndexOrder) {
  const auto result = pack_lmdb();
  EXPECT_EQ(result.location, request.folder / "lmdb");
  const auto records = contents(result.location);
  ASSERT_EQ(records.size(), request.dataset.images.size());
  for (size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].first, std::string("\0\0\0\0\0\0\0", 7) + static_cast<char>(i));
    int64_t label = -1;
    std::memcpy(&label, records[i].second.data(), 8);
    EXPECT_EQ(label, request.dataset.images[i].label);
    EXPECT_TRUE(records[i].second.substr(8) == original(i)) << i;
  }
}

TEST_F(Packing, FinishedLmdbIsKeptUntilTheNumberOfImagesChanges) {
  const PackResult made = pack_lmdb();
  ASSERT_TRUE(made.made_in_s.has_value());
  const auto written = std::filesystem::last_write_time(request.folder / "lmdb/data.mdb");
  const PackResult kept = pack_lmdb();
  EXPECT_EQ(kept.note, "already packed");
  EXPECT_EQ(kept.made_in_s, made.made_in_s) << "the copy remembers it";
  EXPECT_EQ(std::filesystem::last_write_time(request.folder / "lmdb/data.mdb"), written);
  request.dataset.images.resize(2);
  EXPECT_EQ(contents(pack_lmdb().location).size(), 2u);
}

TEST_F(Packing, OtherLabelsAreAnotherDataSet) {
  std::filesystem::create_directories(folder.path / "set/train/a-class-before-all");
  const Dataset shifted = scan_dataset(folder.path / "set", {.unreadable = Unreadable::left_out});
  ASSERT_EQ(shifted.images.size(), request.dataset.images.size());
  EXPECT_EQ(shifted.images[0].label, request.dataset.images[0].label + 1);
  EXPECT_NE(shifted.fingerprint, request.dataset.fingerprint) << "the copies keep labels";
}

TEST_F(Packing, TarsHoldEmptyFiles) {
  const std::vector<std::string> kinds = pack_destinations();
  if (!std::ranges::count(kinds, "webdataset")) GTEST_SKIP() << "built without libarchive";
  std::ofstream(request.dataset.root / request.dataset.images[1].path).close();
  request.dataset.images[1].bytes = 0;
  const auto made = PackRegistry::instance().find("webdataset")(request);
  const Dataset copy = read_index(made.location / ".index.tsv");
  ASSERT_EQ(copy.images.size(), request.dataset.images.size());
  for (size_t i = 0; i < copy.images.size(); ++i) {
    EXPECT_EQ(copy.images[i].bytes, request.dataset.images[i].bytes);
    EXPECT_EQ(copy.images[i].label, request.dataset.images[i].label);
  }
}

TEST_F(Packing, EqualImagesElsewhereHaveAListOfTheirOwn) {
  std::filesystem::copy(folder.path / "set", folder.path / "again", std::filesystem::copy_options::recursive);
  testing::internal::CaptureStdout();
  for (const char* set : {"set", "again", "set"}) run_index(folder.path / set, request.folder, false, {});
  std::istringstream lines(testing::internal::GetCapturedStdout());
  std::vector<std::filesystem::path> lists;
  for (std::string line; std::getline(lines, line);)
    lists.emplace_back(nlohmann::json::parse(line).at("index").get<std::string>());
  ASSERT_EQ(lists.size(), 3u);
  EXPECT_EQ(lists[0], lists[2]);
  EXPECT_NE(lists[0], lists[1]) << "a run may be reading it";
  EXPECT_EQ(read_index(lists[0]).root, folder.path / "set");
  EXPECT_EQ(read_index(lists[1]).root, folder.path / "again");
}

TEST_F(Packing, EqualImagesIndexedAtTheSameTimeHaveTwoListsToo) {
  std::filesystem::copy(folder.path / "set", folder.path / "again", std::filesystem::copy_options::recursive);
  const auto lists = request.folder / request.dataset.fingerprint;
  std::filesystem::create_directories(lists);
  std::optional<base::FileLock> first(base::FileLock::of_folder(lists));
  if (!first->holds()) GTEST_SKIP() << "no locks on this file system";
  testing::internal::CaptureStdout();
  const auto index = [&](const char* set) {
    return std::async(std::launch::async,
                      [this, set] { run_index(folder.path / set, request.folder, false, {}); });
  };
  auto one = index("set"), other = index("again");
  EXPECT_EQ(one.wait_for(std::chrono::milliseconds(300)), std::future_status::timeout);
  first.reset();
  one.get(), other.get();
  testing::internal::GetCapturedStdout();
  std::set<std::filesystem::path> roots;
  for (const auto& list : std::filesystem::directory_iterator(lists))
    roots.insert(read_index(list.path()).root);
  EXPECT_EQ(roots, (std::set<std::filesystem::path>{folder.path / "set", folder.path / "again"}));
}

TEST_F(Packing, HalfPackedLmdbIsDoneAgain) {
  folder.write("store/lmdb.partial/data.mdb", "half");
  folder.write("store/lmdb/data.mdb", "no finished record beside it");
  EXPECT_EQ(contents(pack_lmdb().location).size(), 6u);
  EXPECT_FALSE(std::filesystem::exists(request.folder / "lmdb.partial"));
}

TEST_F(Packing, IndexingTakesAwayWhatKilledProgramsLeftOfTheIndexAlone) {
  const auto store = request.folder / request.dataset.fingerprint;
  std::filesystem::create_directories(store / "raw.partial");
  const std::vector<std::filesystem::path> drafts = {store / "index.tsv.10-0.partial",
                                                     store / "validation-1.tsv.10-1.partial"},
                                           others = {store / "raw.partial/pixels.10-0.partial",
                                                     store / "lmdb.pack.json.10-0.partial",
                                                     store / "notes.partial"};
  for (const auto& files : {drafts, others})
    for (const auto& file : files) std::ofstream(file) << "half";
  testing::internal::CaptureStdout();
  run_index(folder.path / "set", request.folder, false, {});
  testing::internal::GetCapturedStdout();
  EXPECT_TRUE(std::filesystem::exists(store / "index.tsv"));
  for (const auto& file : drafts) EXPECT_FALSE(std::filesystem::exists(file)) << file;
  for (const auto& file : others) EXPECT_TRUE(std::filesystem::exists(file)) << file;
}

TEST_F(Packing, InterruptLeavesNothingThatCouldBeUsed) {
  const auto interrupted = [&] {  // in a process of its own: an interrupt can't be taken back
    base::note_interrupts();
    std::raise(SIGINT);
    try {
      pack_lmdb();
    } catch (const base::Interrupted&) {
      _exit(130);
    }
    _exit(0);
  };
  EXPECT_EXIT(interrupted(), testing::ExitedWithCode(130), "");
  EXPECT_FALSE(std::filesystem::exists(request.folder / "lmdb"));
  EXPECT_FALSE(std::filesystem::exists(request.folder / "lmdb.partial"));
  EXPECT_EQ(contents(pack_lmdb().location).size(), 6u);
}

TEST_F(Packing, FileThatChangedSinceItWasIndexedIsNamed) {
  folder.write("set/train/n02/n_1.JPEG", "shorter");
  const auto error = failure_of([&] { pack_lmdb(); });
  EXPECT_SAYS(error, "train/n02/n_1.JPEG");
  EXPECT_SAYS(error, "make_dataset index");
  EXPECT_FALSE(std::filesystem::exists(request.folder / "lmdb"));
}

TEST_F(Packing, MemoryCopyKeepsPathsOrSaysWhatItNeeds) {
  const auto small = folder.path / "small", large = folder.path / "large";
  std::filesystem::create_directories(small);
  std::filesystem::create_directories(large);
  if (mount("tmpfs", small.c_str(), "tmpfs", 0, "size=1m")) GTEST_SKIP() << "mounting a tmpfs needs root";
  mount("tmpfs", large.c_str(), "tmpfs", 0, "size=100m");
  const auto nowhere = pack_to_memory(request, {small});
  const auto result = pack_to_memory(request, {small, large});
  const auto again = pack_to_memory(request, {small, large});
  std::vector<bool> equal;
  for (size_t i = 0; i < request.dataset.images.size(); ++i) {
    const auto name = std::filesystem::relative(result.location, folder.path).string();
    equal.push_back(folder.read(name + "/" + request.dataset.images[i].path) == original(i));
  }
  const auto own = base::private_folder(large);
  umount(small.c_str());
  umount(large.c_str());
  EXPECT_EQ(nowhere.location, "");
  EXPECT_SAYS(nowhere.note, "needs 0.0 MB");
  EXPECT_EQ(result.location.parent_path(), own);
  EXPECT_SAYS(result.location.string(), request.dataset.fingerprint);
  EXPECT_EQ(equal, std::vector<bool>(6, true));
  EXPECT_EQ(again.note, "already copied");
  EXPECT_SAYS(pack_to_memory(request, {}).note, "none is mounted");
}

TEST_F(Packing, MemoryCopyWaitsUntilAnotherRunHasRemovedItsOwn) {
  const auto own = base::private_folder(folder.path);
  const auto copy = own / request.dataset.fingerprint;
  const std::string removed_last =
      std::filesystem::relative(copy, folder.path).string() + ".partial/removed-last";
  folder.write(removed_last, "x");
  std::optional<base::FileLock> removing(copy.string() + ".in-use");
  auto packed = std::async(std::launch::async, [&] { return pack_to_memory(request, {folder.path}); });
  EXPECT_EQ(packed.wait_for(std::chrono::milliseconds(300)), std::future_status::timeout);
  EXPECT_TRUE(std::filesystem::exists(folder.path / removed_last));
  removing.reset();
  EXPECT_EQ(packed.get().location, copy);
  EXPECT_TRUE(std::filesystem::exists(copy / request.dataset.images[0].path));
  EXPECT_FALSE(std::filesystem::exists(copy.string() + ".in-use")) << "nobody uses it yet";
}

}  // namespace bench::dataset_pack_test
