// unit: dropping, filling and measuring the page cache on this machine's real disk.
#include "bench/loading/storage/page_cache.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "tests/support/small_images.h"

namespace bench::page_cache_test {

// Below the build folder: /tmp may be a tmpfs, whose pages can't be dropped.
class PageCache : public testing::Test {
 protected:
  void SetUp() override {
    if (is_in_memory(BINARY_DIR)) GTEST_SKIP() << BINARY_DIR << " is not on a disk";
    for (int i = 0; i < 4; ++i) {
      files_.push_back(folder_.path() / ("file" + std::to_string(i)));
      write_bytes(files_.back(), Bytes(kBytes, static_cast<uint8_t>(i)));
    }
  }
  static constexpr size_t kBytes = 2 << 20;
  TemporaryFolder folder_{BINARY_DIR};
  FileList files_;
};

TEST_F(PageCache, DropsAndFills) {
  if (!resident_share(files_)) GTEST_SKIP() << "mincore is not reliable here";
  EXPECT_EQ(resident_share(files_), 1.0);  // just written
  drop_from_page_cache(files_);
  EXPECT_EQ(resident_share(files_), 0.0);
  const auto before = device_bytes_read();
  read_into_page_cache({files_[0], files_[1]});
  EXPECT_EQ(resident_share(files_), 0.5);
  read_into_page_cache(files_);
  EXPECT_EQ(resident_share(files_), 1.0);
  if (before) {
    const int64_t read = *device_bytes_read() - *before;
    EXPECT_GE(read, static_cast<int64_t>(4 * kBytes));
    EXPECT_LE(read, static_cast<int64_t>(5 * kBytes));
    const int64_t warm = *device_bytes_read();
    read_into_page_cache(files_);
    EXPECT_EQ(*device_bytes_read(), warm);
  }
}

TEST_F(PageCache, FilesThatAreMissingAreLeftOut) {
  if (!resident_share(files_)) GTEST_SKIP() << "mincore is not reliable here";
  files_.insert(files_.begin() + 1, folder_.path() / "removed");
  drop_from_page_cache(files_);
  EXPECT_EQ(resident_share(files_), 0.0);
  read_into_page_cache(files_);
  EXPECT_EQ(resident_share(files_), 1.0);
  lock_in_memory(files_);
  EXPECT_FALSE(resident_share({files_[1]}));
}

// As a kernel's reclaim that runs before memory is short: DAMON's on many virtual machines.
TEST_F(PageCache, LockedPagesStay) {
  if (!resident_share(files_)) GTEST_SKIP() << "mincore is not reliable here";
  drop_from_page_cache(files_);
  auto locked = lock_in_memory(files_);
  if (!locked) GTEST_SKIP() << "ulimit -l is below " << files_.size() * kBytes << " bytes";
  EXPECT_EQ(resident_share(files_), 1.0);
  drop_clean_pages(files_);
  EXPECT_EQ(resident_share(files_), 1.0);
  EXPECT_FALSE(lock_in_memory(FileList(100'000, files_[0]))) << "more mappings than Linux allows";
  locked.reset();
  drop_clean_pages(files_);
  EXPECT_EQ(resident_share(files_), 0.0);
}

TEST_F(PageCache, RootDropsDirectoryEntriesAndInodes) {
  const std::string why_not = drop_metadata();
  if (!why_not.empty()) GTEST_SKIP() << why_not;
  // Reading thousands of small files brings in as many entries.
  const auto entries = [] {
    int64_t count = 0;
    std::ifstream("/proc/sys/fs/dentry-state") >> count;
    return count;
  };
  for (int i = 0; i < 3000; ++i) write_bytes(folder_.path() / std::to_string(i), Bytes(1, 0));
  const int64_t before = entries();
  EXPECT_EQ(drop_metadata(), "");
  EXPECT_LT(entries(), before - 1000);
}

TEST_F(PageCache, WithoutPermissionThereIsNoShare) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to change the user";
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
  std::filesystem::permissions(files_[0], std::filesystem::perms(0644));
  // A separate process, because it changes its user and loses its capabilities.
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setuid(12345) != 0 || ::access(files_[0].c_str(), R_OK) != 0) ::_exit(2);
    ::_exit(resident_share({files_[0]}) ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WEXITSTATUS(status) == 2) GTEST_SKIP() << "others can't reach " << folder_.path();
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(PageCache, SamplesLargeSets) {
  if (!resident_share(files_)) GTEST_SKIP() << "mincore is not reliable here";
  drop_from_page_cache({files_[0]});
  FileList many(20'000, files_[0]);
  many.insert(many.end(), 20'000, files_[1]);
  EXPECT_EQ(resident_share(many), 0.5);
}

TEST_F(PageCache, NothingHasNoShare) { EXPECT_FALSE(resident_share({})); }

}  // namespace bench::page_cache_test
