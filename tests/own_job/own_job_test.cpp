// unit: explain, record, ab and feed on a command, with a fake job that reports known times at once; what it
// leaves behind, and bad input.
#include <sys/mount.h>
#include <unistd.h>

#include <regex>
#include <set>

#include "harness/own_job/job_start.h"
#include "tests/support/program.h"
#include "tests/support/real_cgroup.h"

namespace harness::own_job_test {

class OwnJob : public Program {
 protected:
  // `job`: arguments of fake_job.py.
  int with_job(const std::string& subcommand, const std::vector<std::string>& options,
               const std::vector<std::string>& job) {
    std::vector<std::string> words = {subcommand, "--out", directory / "run", "--keep-disturbed"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "python3", SOURCE_DIR "/tests/own_job/fake_job.py"});
    words.insert(words.end(), job.begin(), job.end());
    return run(words);
  }
  int explain(const std::vector<std::string>& job, const std::vector<std::string>& options = {}) {
    return with_job("explain", options, job);
  }
  std::set<std::string> changes(const std::string& status) {
    std::set<std::string> found;
    for (const json& record : records_in("run"))
      if (record["status"] == status) found.insert(record["intervention"]["change"].get<std::string>());
    return found;
  }
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

TEST_F(OwnJob, TooFewWorkersAreNamed) {
  EXPECT_EQ(explain({"load=60", "compute=20", "workers=2"}), 0);
  EXPECT_TRUE(
      says("What binds this job: loader workers, 67 % of the step: twice the loader's workers makes the "
           "job 1.50"));
  EXPECT_TRUE(says("Try: a larger num_workers"));
}

TEST_F(OwnJob, ALoaderThatMoreWorkersDoNotHelpIsNamed) {
  EXPECT_EQ(explain({"load=40", "compute=20", "workers=1", "workers_help=no"}), 0);
  EXPECT_TRUE(says("What binds this job: loader, 50 % of the step: its first batches again and again"));
}

TEST_F(OwnJob, ATrialIsNoCauseAndItsLossIsTold) {
  EXPECT_EQ(explain({"load=2", "compute=20"}, {"--change", "autocast"}), 0);
  EXPECT_FALSE(says("What binds this job: arithmetic"));
  std::smatch loss;
  const std::string text = std::regex_replace(output(), std::regex("\\s+"), " ");
  ASSERT_TRUE(
      std::regex_search(text, loss, std::regex("loss ([0-9.]+) after the same steps, ([0-9.]+) as it is")))
      << text;
  EXPECT_EQ(loss[1], loss[2]) << "it falls with each step, and the trial has the longer segment";
}

TEST_F(OwnJob, AChangeOfTheProcessThatTheProbeRefusesHasNoFigure) {
  EXPECT_EQ(explain({"refuses=fused_optimizer"}, {"--change", "fused_optimizer"}), 3);
  EXPECT_EQ(changes("SKIPPED"), std::set<std::string>{"fused_optimizer"});
  EXPECT_TRUE(says("it has no such form"));
}

TEST_F(OwnJob, WithoutAReliefThereIsNoAnswer) {
  EXPECT_EQ(explain({"load=2"}, {"--change", "fewer_cores"}), 0);
  EXPECT_TRUE(says("no answer: no change that relieves a resource was measured"));
}

TEST_F(OwnJob, EvenRanksAreComputedFromRanksThatDoNotWait) {
  EXPECT_EQ(explain({"load=2", "world=2", "lag=20"}, {"--change", "even_ranks"}), 0);
  EXPECT_TRUE(says("What binds this job: ranks of uneven speed, 50 % of the step"));
}

TEST_F(OwnJob, AJobWithoutABottleneckHasNone) {
  EXPECT_EQ(explain({"load=2", "compute=20"}), 0);
  EXPECT_TRUE(says("What binds this job: the step itself: without its loader the job is 1.00"));
}

TEST_F(OwnJob, WhatTakesASmallPartOfTheStepDoesNotBindIt) {
  EXPECT_EQ(explain({"load=21", "compute=20", "workers=1", "workers_help=no"}), 0);
  EXPECT_TRUE(says("What binds this job: the step itself: without its loader the job is 1.05"));
  EXPECT_TRUE(says("loader (5 %)"));
}

TEST_F(OwnJob, CollectivesAndSlowRanksAreToldApart) {
  EXPECT_EQ(explain({"load=2", "compute=20", "world=2", "exchange=20"}), 0);
  EXPECT_TRUE(says("What binds this job: collectives, 50 % of the step"));
  fs::remove_all(directory / "run");
  EXPECT_EQ(explain({"load=2", "compute=20", "world=2", "lag=20"}), 0);
  EXPECT_TRUE(says("What binds this job: ranks of uneven speed, 50 % of the step"));
  fs::remove_all(directory / "run");
  // Steps of 80 ms, and of 40 ms with even ranks, which exchange all the same.
  EXPECT_EQ(explain({"load=2", "compute=20", "world=2", "exchange=20", "lag=40"}), 0);
  EXPECT_TRUE(says("What binds this job: ranks of uneven speed, 50 % of the step"));
  EXPECT_TRUE(says("next: collectives (25 %)"));
  for (const json& record : records_in("run"))
    if (record["intervention"]["change"] == "even_ranks") {
      EXPECT_NEAR(record["images_per_second"].get<double>(), 2 * 32 / 0.04, 80);
    }
}

TEST_F(OwnJob, TimeThatNoItemNeedsIsNamed) {
  EXPECT_EQ(explain({"load=2", "compute=20", "fixed=0.8"}), 0);
  EXPECT_TRUE(says("What binds this job: time per step that no item needs, 80 % of the step"));
}

TEST_F(OwnJob, WhatOfThatIsLoggingIsCalledLogging) {
  EXPECT_EQ(explain({"load=2", "compute=10", "log=10"}), 0);
  EXPECT_TRUE(says("What binds this job: logging, 50 % of the step"));
}

TEST_F(OwnJob, WhatItWritesIsThrownAwayAndListed) {
  EXPECT_EQ(explain({"writes=" + (directory / "checkpoint").string()}), 0);
  expect_nothing_left();
  const std::string caught = content_of(directory / "run/starts/0/caught.txt");
  EXPECT_EQ(caught, "10 " + (directory / "checkpoint").string() + "\n");
  const auto mode = fs::status(directory / "run/starts/0/output.txt").permissions();
  EXPECT_EQ(mode, fs::perms::owner_read | fs::perms::owner_write) << "a job may print secrets";
}

TEST_F(OwnJob, WithoutNamespacesItIsRefusedUnlessItMayWrite) {
  EXPECT_EQ(record_where_unshare_is("echo unshare failed >&2\nexit 1"), 2);
  EXPECT_TRUE(says("no mount namespace can be made")) << errors();
  EXPECT_TRUE(says("--may-write"));
  for (const auto& entry : fs::directory_iterator(directory / "run/starts/0"))
    EXPECT_NE(entry.path().filename().string().substr(0, 5), "rank-") << "the job was started";
}

TEST_F(OwnJob, ReportsOfARunWithoutARecordAreNotReadAsThoseOfTheNext) {
  fs::create_directories(directory / "run/starts/0");
  std::ofstream(directory / "run/starts/0/rank-0-1.jsonl") << "{\"cut off";
  EXPECT_EQ(with_job("record", {}, {}), 0) << errors();
  EXPECT_EQ(records_in("run").at(0)["status"], "OK") << records_in("run").at(0);
}

TEST_F(OwnJob, ASignalThatEndsTheAttemptOfANamespaceIsNotTakenForItsImpossibility) {
  EXPECT_EQ(record_where_unshare_is("kill -TERM $$"), 1);
  const json record = records_in("run").at(0);
  EXPECT_NE(
      std::string(record["reason"]).find("the attempt to make a mount namespace was ended by signal 15"),
      std::string::npos)
      << record["reason"];
}

TEST_F(OwnJob, MayWriteLetsItWrite) {
  EXPECT_EQ(with_job("record", {"--may-write"}, {"writes=" + (directory / "checkpoint").string()}), 0);
  EXPECT_EQ(content_of(directory / "checkpoint"), "checkpoint");
}

TEST_F(OwnJob, AChangeThatTheJobCannotBearIsLeftOutWithItsReason) {
  EXPECT_EQ(explain({"load=60", "fails=double_batch"}), 0);
  EXPECT_TRUE(says("double_batch: left out: the job failed with it")) << errors();
  EXPECT_TRUE(says("the batch has the wrong size"));
  EXPECT_TRUE(says("What binds this job: loader workers")) << "later blocks run without it";
}

TEST_F(OwnJob, AJobThatFailsGivesNoNumberAndItsLastLines) {
  EXPECT_EQ(explain({"steps=no"}), 1);
  EXPECT_TRUE(says("the command ended with exit code 4"));
  EXPECT_TRUE(says("its last lines: nothing to do"));
  EXPECT_EQ(changes("OK"), std::set<std::string>());
}

TEST_F(OwnJob, AJobThatEndsSoonIsStartedMoreOften) {
  EXPECT_EQ(explain({"load=2", "compute=20", "fixed=0.8", "length=120"}), 0);
  EXPECT_TRUE(says("What binds this job: time per step that no item needs"));
  for (const json& record : records_in("run")) EXPECT_NE(record["status"], "CRASHED") << record["reason"];
}

// Its starts have steps for one change each: with twice the batch it must not be given the loader's gain.
TEST_F(OwnJob, InStartsOfOneChangeEachTheLoaderIsNoFixedTime) {
  EXPECT_EQ(explain({"load=30", "workers=8", "workers_help=no", "length=100"}), 0);
  EXPECT_FALSE(says("What binds this job: time per step that no item needs")) << output();
}

TEST_F(OwnJob, AJobThatEndsBeforeAnyChangeSaysSo) {
  EXPECT_EQ(explain({"workers=16", "length=45"}), 0);
  EXPECT_TRUE(says("loader_alone, added_step_time: the job ends after 45\n  steps, too early for it"))
      << output();
}

TEST_F(OwnJob, AJobThatEndsBeforeItCanBeMeasuredSaysSo) {
  EXPECT_EQ(explain({"length=9"}), 1);
  EXPECT_TRUE(says("fewer than are to be measured")) << output();
}

TEST_F(OwnJob, AJobThatHangsIsEndedWithAllItsProcesses) {
  EXPECT_EQ(explain({"steps=hang"}, {"--within", "2s"}), 1);
  EXPECT_TRUE(says("it was ended after 1 s")) << output();
  EXPECT_EQ(records_in("run").at(0)["status"], "TIMEOUT");
  for (const auto& entry : fs::directory_iterator("/proc"))
    EXPECT_EQ(content_of(entry.path() / "cmdline").find(directory.path().string() + "/run"),
              std::string::npos);
}

TEST_F(OwnJob, ADaemonThatItLeavesIsEnded) {
  const std::string word = "daemon=" + directory.path().string();
  EXPECT_EQ(with_job("record", {}, {word}), 0) << output();
  for (const auto& entry : fs::directory_iterator("/proc"))
    EXPECT_EQ(content_of(entry.path() / "cmdline").find(word), std::string::npos);
}

TEST_F(OwnJob, AJobThatChangesItsFolderIsMeasured) {
  EXPECT_EQ(with_job("record", {}, {"chdir=/"}), 0) << output();
  EXPECT_EQ(records_in("run").at(0)["status"], "OK");
}

TEST_F(OwnJob, MoreThanMayBeKeptInMemoryIsNoSpaceLeft) {
  EXPECT_EQ(with_job("record", {}, {"fills=" + (directory / "checkpoint").string()}), 1);
  const std::string reason = records_in("run").at(0)["reason"];
  EXPECT_NE(reason.find("what it writes is kept in memory"), std::string::npos) << reason;
  EXPECT_NE(reason.find("with --may-write it goes to your disk"), std::string::npos) << reason;
  expect_nothing_left();
}

TEST_F(OwnJob, OnlyNamedChangesRunWithThoseTheyAreComparedWith) {
  EXPECT_EQ(explain({}, {"--change", "double_batch"}), 0);
  EXPECT_EQ(changes("OK"), (std::set<std::string>{"unchanged", "replayed", "double_batch", "no_logging",
                                                  "no_metrics", "free_cores"}));
}

TEST_F(OwnJob, TheQuotaOfItsControlGroupIsLifted) {
  RealGroup group("cpu");
  group.set("cpu.max", "50000 100000", "cpu.cfs_quota_us", "50000");
  if (!group.why_not().empty()) GTEST_SKIP() << group.why_not();
  const auto inside = [&] {
    const std::string name = group.folder().filename();
    if (explain({"load=2", "group=" + name}, {"--change", "no_quota"}) != 0) return 1;
    return says("What binds this job: the quota of its control group, 50 % of the step") ? 0 : 2;
  };
  EXPECT_EQ(in_group(group, inside), 0);
}

TEST_F(OwnJob, RecordKeepsOneRunAndItsPhases) {
  EXPECT_EQ(with_job("record", {"--steps", "20"}, {"load=60", "workers=2", "world=2"}), 0);
  const json record = records_in("run").at(0);
  EXPECT_EQ(record["device"]["kind"], "own");
  EXPECT_EQ(record["job"]["loaders"][0]["workers"], 2);
  EXPECT_EQ(record["samples_ms"]["load"].size(), 2u);
  EXPECT_EQ(record["samples_ms"]["load"][0].size(), 20u);
  EXPECT_NEAR(record["total_s"], 20 * 0.030, 0.02);
  EXPECT_NEAR(record["images_per_second"], 2 * 32 / 0.030, 60) << "of both ranks";
  EXPECT_TRUE(fs::exists(directory / "run/report.html"));
  EXPECT_FALSE(says("--device own")) << "remedies of rows";
}

TEST_F(OwnJob, TwoCommandsAreComparedInBlocks) {
  const std::string job = SOURCE_DIR "/tests/own_job/fake_job.py";
  EXPECT_EQ(run({"ab", "--keep-disturbed", "--out", directory / "run", "--", "python3", job, "load=2", "---",
                 "python3", job, "load=2", "compute=25"}),
            4)
      << "B is slower";
  EXPECT_TRUE(says("SLOWER")) << output();
  EXPECT_EQ(records_in("run/A").size(), 9u);
}

TEST_F(OwnJob, FeedTellsHowManyDevicesItsLoaderFeeds) {
  EXPECT_EQ(with_job("feed", {"--images-per-s", "1000"}, {"load=20", "workers=2"}), 0);
  EXPECT_TRUE(says("It feeds: 3.2"));
  fs::remove_all(directory / "run");
  EXPECT_EQ(with_job("feed", {"--step-ms", "5"}, {"load=20", "workers=2"}), 4) << "a batch of 32 takes 10 ms";
  EXPECT_TRUE(says("One device takes: 6400 items/s, a batch of 32 in 5 ms"));
  fs::remove_all(directory / "run");
  EXPECT_EQ(with_job("feed", {"--device", "test-150"}, {"load=20", "workers=2"}), 0);
  EXPECT_TRUE(says("One device takes: 150 items/s, a batch of 32 in 213.3 ms"));
  fs::remove_all(directory / "run");
  EXPECT_EQ(with_job("feed", {"--device", "v100-article"}, {"load=20"}), 2);
  EXPECT_TRUE(says("it has several models; name its model with --model: resnet18, resnet50"));
  EXPECT_EQ(with_job("feed", {"--device", "v100-article", "--model", "resnet18"}, {"load=20"}), 2);
  EXPECT_TRUE(says("it has several precisions; name its precision with --precision: ")) << "two models";
}

TEST_F(OwnJob, ALoaderThatEndsBeforeItWasDrainedHasNoFigure) {
  EXPECT_EQ(with_job("feed", {"--step-ms", "5"}, {"workers=4", "length=20"}), 3);
  EXPECT_TRUE(says("no figure: the job ended before its loader was drained of 128 batches")) << output();
}

TEST_F(OwnJob, ColdItsFilesAreLearnedFirst) {
  EXPECT_EQ(with_job("record", {"--cold"}, {}), 0);
  EXPECT_TRUE(fs::exists(directory / "run/starts/1")) << "of what it opened in starts/0";
  EXPECT_EQ(records_in("run").size(), 1u);
}

TEST_F(OwnJob, FilesThatDoNotFitIntoMemoryAreNotRead) {
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
TEST_F(OwnJob, WithoutRootFileSystemsOfTheirOwnAreReadOnly) {
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

TEST_F(OwnJob, AnotherProgramsStepsAreToldByItsLines) {
  const auto with_lines = [&](const std::string& script) {
    fs::remove_all(directory / "run");
    return run({"record", "--keep-disturbed", "--steps", "20", "--warmup", "5", "--step-line", "step [0-9]+",
                "--out", directory / "run", "--", "sh", "-c", script});
  };
  const auto expect_no_figure = [&](const std::string& script, const std::string& why) {
    EXPECT_EQ(with_lines(script), 1);
    const json record = records_in("run").at(0);
    EXPECT_FALSE(record.contains("images_per_second"));
    EXPECT_NE(std::string(record["reason"]).find(why), std::string::npos) << record["reason"];
  };
  expect_no_figure("seq -f 'step %g' 60; sleep 0.1", "let the program flush after each line");
  expect_no_figure("for i in 1 2 3 4 5 6 7 8 9; do echo step $i; sleep 0.02; done",
                   "it printed 9 lines of steps, of which 20 were to be timed");
  expect_no_figure("echo nothing", "no line that it printed matches --step-line");
  EXPECT_EQ(with_lines("i=0; while [ $i -lt 60 ]; do i=$((i+1)); echo \"step $i\"; sleep 0.01; done"), 0);
  const json record = records_in("run").at(0);
  EXPECT_GE(record["timed_batches"], 20);
  EXPECT_GT(record["total_s"], 0.15);
}

TEST_F(OwnJob, BadInputIsRefusedBeforeAnythingStarts) {
  const auto refused = [&](const std::vector<std::string>& words, const std::string& why) {
    EXPECT_EQ(run(words), 2) << why;
    EXPECT_TRUE(says(why)) << why << " in\n" << output() << errors();
  };
  const std::string out = directory / "run";
  refused({"explain", "--out", out, "--", "no-such-program"}, "no-such-program: no such program");
  refused({"explain", "--out", out, "--"}, "needs ids of rows, or a command after `--`");
  refused({"explain", "0", "--out", out, "--", "true"},
          "needs ids of rows, or a command after `--`, and not both");
  refused({"explain", "--change", "more_wrkers", "--out", out, "--", "true"}, "did you mean 'more_workers'?");
  refused({"record", "--step-line", "step [", "--out", out, "--", "true"}, "is no regular expression");
  refused({"ab", "--out", out, "--", "true"}, "needs two commands with --- between them");
  refused({"feed", "--step-ms", "5", "--step-line", "step", "--out", out, "--", "true"},
          "--step-line: has no meaning for feed");
  std::ofstream(directory / "srun") << "#!/bin/sh\n";
  fs::permissions(directory / "srun", fs::perms::owner_all);
  refused({"record", "--out", out, "--", directory / "srun", "true"}, "Slurm starts the ranks outside of");
  refused({"feed", "--out", out, "--", "true"}, "needs --step-ms, --images-per-s or --device");
  refused({"list", "--", "true"}, "true");
  EXPECT_FALSE(fs::exists(directory / "run/records.jsonl"));
}

}  // namespace harness::own_job_test
