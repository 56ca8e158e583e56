// unit: What a start of a command leaves behind, on disk and of processes, and the files that it reads.
#include <sys/mount.h>
#include <unistd.h>

#include <fstream>

#include "harness/own_job/job_files.h"
#include "tests/support/own_job.h"

namespace harness::own_job_test {

class JobStartTest : public OwnJob {
 protected:
  int record_where_unshare_is(const std::string& script) {
    fs::create_directories(directory / "bin");
    std::ofstream(directory / "bin/unshare") << "#!/bin/sh\n" << script << "\n";
    fs::permissions(directory / "bin/unshare", fs::perms::owner_all);
    return run({"record", "--keep-disturbed", "--out", directory / "run", "--", "python3",
                SOURCE_DIR "/tests/own_job/fake_job.py"},
               {{"PATH", (directory / "bin").string() + ":" + std::getenv("PATH")}});
  }
  // The run's folder stays; whatever else a start made must be gone.
  void expect_nothing_left() {
    EXPECT_FALSE(fs::exists(directory / "checkpoint"));
    for (const auto& mount : lines(content_of("/proc/self/mountinfo")))
      EXPECT_EQ(mount.find(directory.path().string()), std::string::npos) << mount;
  }
  static std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> all;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) all.push_back(line);
    return all;
  }
};

TEST_F(JobStartTest, WhatItWritesIsThrownAwayAndListed) {
  EXPECT_EQ(explain({"writes=" + (directory / "checkpoint").string()}), 0);
  expect_nothing_left();
  const std::string caught = content_of(directory / "run/starts/0/caught.txt");
  EXPECT_EQ(caught, "10 " + (directory / "checkpoint").string() + "\n");
  const auto mode = fs::status(directory / "run/starts/0/output.txt").permissions();
  EXPECT_EQ(mode, fs::perms::owner_read | fs::perms::owner_write) << "a job may print secrets";
}

TEST_F(JobStartTest, WithoutNamespacesItIsRefusedUnlessItMayWrite) {
  EXPECT_EQ(record_where_unshare_is("echo unshare failed >&2\nexit 1"), 2);
  EXPECT_TRUE(says("no mount namespace can be made")) << errors();
  EXPECT_TRUE(says("--may-write"));
  for (const auto& entry : fs::directory_iterator(directory / "run/starts/0"))
    EXPECT_NE(entry.path().filename().string().substr(0, 5), "rank-") << "the job was started";
}

TEST_F(JobStartTest, ReportsOfARunWithoutARecordAreNotReadAsThoseOfTheNext) {
  fs::create_directories(directory / "run/starts/0");
  std::ofstream(directory / "run/starts/0/rank-0-1.jsonl") << "{\"cut off";
  EXPECT_EQ(with_job("record", {}, {}), 0) << errors();
  EXPECT_EQ(records_in("run").at(0)["status"], "OK") << records_in("run").at(0);
}

TEST_F(JobStartTest, ASignalThatEndsTheAttemptOfANamespaceIsNotTakenForItsImpossibility) {
  EXPECT_EQ(record_where_unshare_is("kill -TERM $$"), 1);
  const json record = records_in("run").at(0);
  EXPECT_NE(
      std::string(record["reason"]).find("the attempt to make a mount namespace was ended by signal 15"),
      std::string::npos)
      << record["reason"];
}

TEST_F(JobStartTest, AJobWhosePythonLacksLibrariesOfTorchIsToldAnother) {
  const std::string script = "raise ImportError('libcufile.so.0: cannot open shared object file')";
  EXPECT_EQ(run({"explain", "--out", directory / "run", "--", SOURCE_DIR "/.venv/bin/python3", "-c", script}),
            1);
  EXPECT_TRUE(says("its last lines:\n  Traceback")) << output();
  EXPECT_TRUE(says("\n  ImportError: libcufile.so.0"));
  EXPECT_SAYS(records_in("run").at(0)["reason"].get<std::string>(),
              "(pip install torch in an environment of your own); its last lines:");
  fs::remove_all(directory / "run");
  EXPECT_EQ(run({"record", "--out", directory / "run", "--", "python3", "-c", script}), 1);
  EXPECT_FALSE(says("pip install torch")) << "another Python";
  EXPECT_FALSE(says("300 timed batches")) << "a row's";
}

TEST_F(JobStartTest, MayWriteLetsItWrite) {
  EXPECT_EQ(with_job("record", {"--may-write"}, {"writes=" + (directory / "checkpoint").string()}), 0);
  EXPECT_EQ(content_of(directory / "checkpoint"), "checkpoint");
}

TEST_F(JobStartTest, AJobThatHangsIsEndedWithAllItsProcesses) {
  EXPECT_EQ(explain({"steps=hang"}, {"--within", "2s"}), 1);
  EXPECT_TRUE(says("it was ended after 1 s; until then no Python process")) << output();
  EXPECT_TRUE(says("give it longer with --within"));
  EXPECT_FALSE(says("Killed")) << "a line of bench/probe/throw_away";
  EXPECT_EQ(records_in("run").at(0)["status"], "TIMEOUT");
  for (const auto& entry : fs::directory_iterator("/proc"))
    EXPECT_EQ(content_of(entry.path() / "cmdline").find(directory.path().string() + "/run"),
              std::string::npos);
}

TEST_F(JobStartTest, ADaemonThatItLeavesIsEnded) {
  const std::string word = "daemon=" + directory.path().string();
  EXPECT_EQ(with_job("record", {}, {word}), 0) << output();
  for (const auto& entry : fs::directory_iterator("/proc"))
    EXPECT_EQ(content_of(entry.path() / "cmdline").find(word), std::string::npos);
}

TEST_F(JobStartTest, AJobThatChangesItsFolderIsMeasured) {
  EXPECT_EQ(with_job("record", {}, {"chdir=/"}), 0) << output();
  EXPECT_EQ(records_in("run").at(0)["status"], "OK");
}

TEST_F(JobStartTest, MoreThanMayBeKeptInMemoryIsNoSpaceLeft) {
  EXPECT_EQ(with_job("record", {}, {"fills=" + (directory / "checkpoint").string()}), 1);
  const std::string reason = records_in("run").at(0)["reason"];
  EXPECT_NE(reason.find("what it writes is kept in memory"), std::string::npos) << reason;
  EXPECT_NE(reason.find("with --may-write it goes to your disk"), std::string::npos) << reason;
  expect_nothing_left();
}

TEST_F(JobStartTest, ColdItsFilesAreLearnedFirst) {
  EXPECT_EQ(with_job("record", {"--cold"}, {}), 0);
  EXPECT_TRUE(fs::exists(directory / "run/starts/1")) << "of what it opened in starts/0";
  EXPECT_EQ(records_in("run").size(), 1u);
}

TEST_F(JobStartTest, FilesThatDoNotFitIntoMemoryAreNotRead) {
  std::ofstream(directory / "small") << "1";
  std::ofstream(directory / "large") << "1";
  JobFiles files;
  files.opened({directory / "small"});
  EXPECT_TRUE(files.known() && files.fit());
  fs::resize_file(directory / "large", uintmax_t(1) << 42);
  files.opened({directory / "large"});
  EXPECT_FALSE(files.fit());
}

// As root it is another user's; file systems below the working folder, home and temporary folder are
// overlaid.
TEST_F(JobStartTest, WithoutRootFileSystemsOfTheirOwnAreReadOnly) {
  if (::geteuid() != 0) GTEST_SKIP() << "it takes root to mount one";
  const std::vector<std::string> nobody = {"setpriv", "--reuid", "65534",
                                           "--regid", "65534",   "--clear-groups"};
  const auto as_nobody = [&](std::vector<std::string> words) {
    words.insert(words.begin(), nobody.begin(), nobody.end());
    base::Command command{words, {}, {}, {}, {}};
    command.environment = {{"HOME", directory / "home"}, {"TMPDIR", directory / "home"}};
    command.errors_to_output = true;
    return base::run_to_end(command);
  };
  if (as_nobody({"unshare", "--user", "--map-root-user", "--mount", "true"}).exit_code != 0)
    GTEST_SKIP() << "other users can't make namespaces here";
  for (const char* name : {"kept", "home", "other"}) fs::create_directory(directory / name);
  ASSERT_EQ(::mount("tmpfs", (directory / "other").c_str(), "tmpfs", MS_NOSUID, "size=64k,mode=777"), 0);
  fs::permissions(directory.path(), fs::perms(0755));
  for (const char* name : {"kept", "home"}) ASSERT_EQ(::chown((directory / name).c_str(), 65534, 65534), 0);
  fs::copy_file(SOURCE_DIR "/bench/probe/throw_away", directory / "throw_away");
  fs::permissions(directory / "throw_away", fs::perms(0755));
  const std::string script = "cd $HOME && touch mine; touch " + (directory / "other/x").string();
  const auto ended = as_nobody({"env", "-C", directory / "home", directory / "throw_away", directory / "kept",
                                "1M", "sh", "-c", script});
  EXPECT_NE(ended.output.find("Read-only file system"), std::string::npos) << ended.output;
  EXPECT_FALSE(fs::exists(directory / "other/x"));
  EXPECT_FALSE(fs::exists(directory / "home/mine"));
  EXPECT_NE(content_of(directory / "kept/caught.txt").find("/home/mine"), std::string::npos);
  EXPECT_EQ(::umount((directory / "other").c_str()), 0);
}

}  // namespace harness::own_job_test
