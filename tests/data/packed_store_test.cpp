// unit: `make_dataset prune` removes what make_dataset packed and nothing else
#include "harness/data/packed_store.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <optional>

#include "bench/dataset/pack.h"
#include "bench/dataset/prune.h"
#include "bench/dataset/scan.h"
#include "harness/base/file_lock.h"
#include "tests/support/dataset_folder.h"
#include "tests/support/failure_of.h"

namespace bench::packed_store_test {

namespace fs = std::filesystem;

struct Store : testing::Test {
  DatasetFolder folder;
  fs::path store = folder.path / "store";

  // Creates, indexes and packs (LMDB) a set with unique content; returns its folder in the store.
  fs::path add_set(const std::string& name) {
    folder.write_small_set(name);
    folder.write(name + "/train/n00/" + name + ".JPEG", name);
    PackRequest request{scan_dataset(folder.path / name), ""};
    request.folder = store / request.dataset.fingerprint;
    write_index(request.dataset, request.folder / "index.tsv");
    PackRegistry::instance().find("lmdb")(request);
    return request.folder;
  }

  std::map<std::string, std::string> prune_all(const std::set<std::string>& keep = {}, bool dry_run = false) {
    std::map<std::string, std::string> kept;
    for (const PrunedFolder& one : prune({store, keep, dry_run}))
      kept[fs::relative(one.folder, store).string()] = one.kept;
    return kept;
  }
};

TEST_F(Store, CopiesOfOtherSetsAreRemovedWithTheirIndexes) {
  const fs::path mine = add_set("mine"), other = add_set("other");
  const auto looked = prune({store, {mine.filename()}, true});
  EXPECT_TRUE(fs::exists(other / "lmdb/data.mdb")) << "a dry run";
  ASSERT_EQ(looked.size(), 2u);
  for (const PrunedFolder& one : looked) {
    EXPECT_GT(one.bytes, 24'000);
    EXPECT_EQ(one.data, fs::canonical(folder.path / (one.kept.empty() ? "other" : "mine")).string());
  }
  const auto kept = prune_all({mine.filename()});
  EXPECT_EQ(kept.at(mine.filename().string() + "/lmdb"), "--keep names it");
  EXPECT_EQ(kept.at(other.filename().string() + "/lmdb"), "");
  EXPECT_TRUE(fs::exists(mine / "lmdb/data.mdb"));
  EXPECT_TRUE(fs::exists(mine / "index.tsv"));
  EXPECT_FALSE(fs::exists(other));
  EXPECT_EQ(std::distance(fs::directory_iterator(store), {}), 1) << "no lock is left";
  EXPECT_TRUE(fs::exists(add_set("other") / "lmdb/data.mdb")) << "and it can be packed again";
}

TEST_F(Store, WhatARunUsesStays) {
  const fs::path used = add_set("used");
  {
    const harness::CopiesInUse in_use(used);
    const auto kept = prune_all();
    EXPECT_SAYS(kept.at(used.filename().string() + "/lmdb"), "a run uses it");
    EXPECT_TRUE(fs::exists(used / "lmdb/data.mdb"));
  }
  EXPECT_FALSE(fs::exists(used.string() + ".in-use")) << "the last one that uses it removes the lock's file";
  EXPECT_EQ(prune_all().at(used.filename().string() + "/lmdb"), "");
  EXPECT_FALSE(fs::exists(used));
}

TEST_F(Store, OneWhoEndsLateLeavesTheLockOfALaterUser) {
  fs::create_directories(store);
  const fs::path file = store / "copy.in-use";
  std::optional<base::InUse> early(store / "copy"), last(store / "copy");
  EXPECT_FALSE(early->make_alone());
  last.reset();
  EXPECT_FALSE(fs::exists(file));
  const base::InUse later(store / "copy");
  early.reset();
  EXPECT_TRUE(fs::exists(file));
}

TEST_F(Store, WhatIsBeingPackedStays) {
  const fs::path set = add_set("set");
  fs::rename(set / "lmdb", set / "lmdb.partial");
  const std::string name = set.filename().string() + "/lmdb.partial";
  {
    const base::FileLock packing = lock_to_pack(set / "lmdb");
    EXPECT_EQ(prune_all().at(name), "it is being packed");
  }
  EXPECT_EQ(prune_all().at(name), "") << "left by a pack that was killed";
  EXPECT_FALSE(fs::exists(set));
}

TEST_F(Store, WhatCanNotBeListedStaysAndIsNamed) {
  if (::geteuid() == 0) GTEST_SKIP() << "root lists every folder";
  const fs::path set = add_set("set"), locked = add_set("locked");
  fs::permissions(set / "lmdb", fs::perms::none);
  fs::permissions(locked, fs::perms::none);
  const auto kept = prune_all();
  fs::permissions(set / "lmdb", fs::perms::owner_all);
  fs::permissions(locked, fs::perms::owner_all);
  EXPECT_EQ(kept.at(set.filename().string() + "/lmdb"), "it can't be opened: Permission denied");
  EXPECT_EQ(kept.at(locked.filename().string()), "it can't be opened: Permission denied");
  EXPECT_TRUE(fs::exists(set / "lmdb/data.mdb"));
}

TEST_F(Store, WhatMakeDatasetDidNotPackStays) {
  const fs::path set = add_set("set");
  const std::string prefix = "store/" + set.filename().string() + "/";
  folder.write(prefix + "lmdb-mine/data.mdb", "no record");
  folder.write(prefix + "odd/data.mdb", "of another set");
  folder.write(prefix + "odd.pack.json", R"({"version": 1, "images": 7, "fingerprint": "0123456789abcdef"})");
  folder.write(prefix + "half.partial/data.mdb", "nobody took a lock for it");
  folder.write("store/photos/lmdb/data.mdb", "x");
  folder.write("store/photos/lmdb.pack.json", R"({"version": 1, "images": 7, "fingerprint": "photos"})");
  folder.write("store/notes.txt", "x");
  const auto kept = prune_all();
  for (const char* name : {"/lmdb-mine", "/odd", "/half.partial"}) {
    EXPECT_EQ(kept.at(set.filename().string() + name), "make_dataset did not pack it") << name;
    EXPECT_TRUE(fs::exists(set.string() + name)) << name;
  }
  EXPECT_EQ(kept.at(set.filename().string() + "/lmdb"), "");
  EXPECT_TRUE(fs::exists(set / "index.tsv")) << "something is left that it may belong to";
  EXPECT_TRUE(fs::exists(store / "photos/lmdb/data.mdb"));
  EXPECT_TRUE(fs::exists(store / "notes.txt"));
}

TEST_F(Store, LinksAreNeverFollowed) {
  const fs::path set = add_set("set"), linked = add_set("linked"), odd = add_set("odd");
  const std::string prefix = "store/" + set.filename().string() + "/";
  folder.write(prefix + "raw.pack.json", folder.read(prefix + "lmdb.pack.json"));
  folder.write("precious/data.mdb", "precious");
  fs::rename(set / "lmdb", folder.path / "moved");
  fs::create_directory_symlink(folder.path / "moved", set / "lmdb");
  fs::create_directory_symlink(folder.path / "precious", set / "raw");
  fs::rename(linked, folder.path / linked.filename());
  fs::create_directory_symlink(folder.path / linked.filename(), linked);
  fs::create_symlink(folder.path / "precious/data.mdb", odd / "lmdb/linked.mdb");
  fs::create_directory(odd / "lmdb/deeper");
  const auto kept = prune_all();
  EXPECT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept.at(odd.filename().string() + "/lmdb"),
            "it holds linked.mdb, which make_dataset did not put there");
  EXPECT_TRUE(fs::exists(folder.path / "moved/data.mdb"));
  EXPECT_TRUE(fs::exists(folder.path / "precious/data.mdb"));
  EXPECT_TRUE(fs::exists(folder.path / linked.filename() / "lmdb/data.mdb"));
}

TEST_F(Store, ThatIsMissingIsNamed) {
  EXPECT_SAYS(failure_of([&] { prune({folder.path / "none", {}, false}); }), "none: No such file");
}

}  // namespace bench::packed_store_test
