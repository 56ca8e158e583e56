// unit: folders in /dev/shm that other users can't block, fill or redirect, and locks that show whether a run
// still uses them.
#include <sys/stat.h>

#include "harness/base/file_lock.h"
#include "harness/base/scratch.h"
#include "harness/data/packed_store.h"
#include "tests/support/program.h"

namespace harness::private_folder_test {

class PrivateFolder : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    usual = directory / ("training-matrix-" + std::to_string(::geteuid()));
  }
  void expect_another() {
    const fs::path folder = base::private_folder(directory);
    EXPECT_NE(folder, usual);
    EXPECT_EQ(base::private_folder(directory), folder) << "all programs of the user agree";
    struct stat status {};
    ASSERT_EQ(::lstat(folder.c_str(), &status), 0);
    EXPECT_TRUE(S_ISDIR(status.st_mode));
    EXPECT_EQ(status.st_uid, ::geteuid());
    EXPECT_EQ(status.st_mode & 0777, 0700u);
  }
  fs::path usual;
};

TEST_F(PrivateFolder, IsMadeOnceAndForTheUserAlone) {
  const fs::path folder = base::private_folder(directory);
  EXPECT_EQ(folder, usual);
  EXPECT_EQ(base::private_folder(directory), usual);
  EXPECT_EQ(fs::status(usual).permissions(), fs::perms::owner_all);
}

TEST_F(PrivateFolder, ALinkOfThatNameIsNotFollowed) {
  fs::create_directories(directory / "elsewhere");
  fs::create_directory_symlink(directory / "elsewhere", usual);
  expect_another();
  EXPECT_TRUE(fs::is_empty(directory / "elsewhere"));
}

TEST_F(PrivateFolder, AFolderThatOthersMayWriteToIsNotUsed) {
  fs::create_directories(usual);
  fs::permissions(usual, fs::perms::all);
  expect_another();
}

TEST_F(PrivateFolder, AFolderOfAnotherUserIsNotUsed) {
  if (::geteuid() != 0) GTEST_SKIP() << "giving a folder to another user takes root";
  fs::create_directories(usual);
  fs::permissions(usual, fs::perms::owner_all);
  ASSERT_EQ(::chown(usual.c_str(), 65534, 65534), 0);
  expect_another();
}

TEST_F(PrivateFolder, ALockIsNoLink) {
  fs::create_symlink(directory / "target", directory / "copy.in-use");
  EXPECT_THROW(TransientCopy(directory / "copy"), std::runtime_error);
  EXPECT_FALSE(fs::exists(directory / "target"));
}

// A process that holds a scratch folder until it is killed.
pid_t hold_scratch(const fs::path& place) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  const base::Scratch scratch(place, "run-");
  ::pause();
  ::_exit(0);
}

TEST_F(PrivateFolder, ScratchOfALiveProcessStaysAndOfAKilledOneGoes) {
  const fs::path foreign = directory / "run-x", empty = directory / "run-y";  // without a lock
  fs::create_directories(foreign / "something");
  fs::create_directories(empty);  // as of a process that was killed between making and locking it
  const pid_t holder = hold_scratch(directory);
  const auto folders = [&] {
    size_t count = 0;
    for (const auto& entry : fs::directory_iterator(directory)) count += fs::exists(entry.path() / ".lock");
    return count;
  };
  for (int i = 0; i < 100 && folders() == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  {
    const base::Scratch own(directory, "run-");
    EXPECT_EQ(folders(), 2u) << "that of a live process";
  }
  EXPECT_EQ(folders(), 1u) << "it removes its own";
  ::kill(holder, SIGKILL);
  exit_code_of(holder);
  const base::Scratch own(directory, "run-");
  EXPECT_EQ(folders(), 1u) << "that of a killed process";
  EXPECT_TRUE(fs::exists(foreign));
  EXPECT_FALSE(fs::exists(empty));
}

// Everything in /dev/shm that another user can do to the names of this suite.
TEST_F(PrivateFolder, OtherUsersCantBlockARunsMemory) {
  const std::string uid = std::to_string(::geteuid());
  base::Command inner = command({"--scale", "smoke", "--only", "tmpfs,0", "--out", directory / "run"});
  const std::vector<std::string> shell = {
      "unshare", "--mount", "sh", "-c",
      "mount -t tmpfs -o mode=1777 none /dev/shm && mkdir /dev/shm/training-matrix-" + uid +
          " && chown 65534 /dev/shm/training-matrix-" + uid + " && exec \"$0\" \"$@\""};
  if (::geteuid() != 0) GTEST_SKIP() << "a /dev/shm of the test's own takes root";
  inner.arguments.insert(inner.arguments.begin(), shell.begin(), shell.end());
  EXPECT_EQ(exit_code_of(start(inner)), 0);
  EXPECT_EQ(records_in("run").size(), 2u);
}

}  // namespace harness::private_folder_test
