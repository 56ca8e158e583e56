// unit: explain on a command, with a fake job that reports known times at once: the cause that is named, and
// jobs that fail or end early.
#include <regex>

#include "tests/support/own_job.h"
#include "tests/support/real_cgroup.h"

namespace harness::own_job_test {

class ExplainJob : public OwnJob {};

TEST_F(ExplainJob, TooFewWorkersAreNamed) {
  EXPECT_EQ(explain({"load=60", "compute=20", "workers=2"}), 0);
  EXPECT_TRUE(
      says("What binds this job: loader workers, 67 % of the step: twice the loader's workers makes the "
           "job 1.50"));
  EXPECT_TRUE(says("Try: a larger num_workers"));
}

TEST_F(ExplainJob, ALoaderThatMoreWorkersDoNotHelpIsNamed) {
  EXPECT_EQ(explain({"load=40", "compute=20", "workers=1", "workers_help=no"}), 0);
  EXPECT_TRUE(says("What binds this job: loader, 50 % of the step: its first batches again and again"));
}

TEST_F(ExplainJob, ATrialIsNoCauseAndItsLossIsTold) {
  EXPECT_EQ(explain({"load=2", "compute=20"}, {"--change", "autocast"}), 0);
  EXPECT_FALSE(says("What binds this job: arithmetic"));
  std::smatch loss;
  const std::string text = std::regex_replace(output(), std::regex("\\s+"), " ");
  ASSERT_TRUE(
      std::regex_search(text, loss, std::regex("loss ([0-9.]+) after the same steps, ([0-9.]+) as it is")))
      << text;
  EXPECT_EQ(loss[1], loss[2]) << "it falls with each step, and the trial has the longer segment";
}

TEST_F(ExplainJob, AChangeOfTheProcessThatTheProbeRefusesHasNoFigure) {
  EXPECT_EQ(explain({"refuses=fused_optimizer"}, {"--change", "fused_optimizer"}), 3);
  EXPECT_EQ(changes("SKIPPED"), std::set<std::string>{"fused_optimizer"});
  EXPECT_TRUE(says("it has no such form"));
}

TEST_F(ExplainJob, WithoutAReliefThereIsNoAnswer) {
  EXPECT_EQ(explain({"load=2"}, {"--change", "fewer_cores"}), 0);
  EXPECT_TRUE(says("no answer: no change that relieves a resource was measured"));
}

TEST_F(ExplainJob, EvenRanksAreComputedFromRanksThatDoNotWait) {
  EXPECT_EQ(explain({"load=2", "world=2", "lag=20"}, {"--change", "even_ranks"}), 0);
  EXPECT_TRUE(says("What binds this job: ranks of uneven speed, 50 % of the step"));
}

TEST_F(ExplainJob, AJobWithoutABottleneckHasNone) {
  EXPECT_EQ(explain({"load=2", "compute=20"}), 0);
  EXPECT_TRUE(says("What binds this job: the step itself: without its loader the job is 1.00"));
}

TEST_F(ExplainJob, WhatTakesASmallPartOfTheStepDoesNotBindIt) {
  EXPECT_EQ(explain({"load=21", "compute=20", "workers=1", "workers_help=no"}), 0);
  EXPECT_TRUE(says("What binds this job: the step itself: without its loader the job is 1.05"));
  EXPECT_TRUE(says("loader (5 %)"));
}

TEST_F(ExplainJob, CollectivesAndSlowRanksAreToldApart) {
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

TEST_F(ExplainJob, TimeThatNoItemNeedsIsNamed) {
  EXPECT_EQ(explain({"load=2", "compute=20", "fixed=0.8"}), 0);
  EXPECT_TRUE(says("What binds this job: time per step that no item needs, 80 % of the step"));
}

TEST_F(ExplainJob, WhatOfThatIsLoggingIsCalledLogging) {
  EXPECT_EQ(explain({"load=2", "compute=10", "log=10"}), 0);
  EXPECT_TRUE(says("What binds this job: logging, 50 % of the step"));
}

TEST_F(ExplainJob, AChangeThatTheJobCannotBearIsLeftOutWithItsReason) {
  EXPECT_EQ(explain({"load=60", "fails=double_batch"}), 0);
  EXPECT_TRUE(says("double_batch: left out: the job failed with it")) << errors();
  EXPECT_TRUE(says("the batch has the wrong size"));
  EXPECT_TRUE(says("What binds this job: loader workers")) << "later blocks run without it";
}

TEST_F(ExplainJob, AJobThatFailsGivesNoNumberAndItsLastLines) {
  EXPECT_EQ(explain({"steps=no"}), 1);
  EXPECT_TRUE(says("the command ended with exit code 4"));
  EXPECT_TRUE(says("its last lines:\n  nothing to do\n"));
  EXPECT_EQ(changes("OK"), std::set<std::string>());
}

TEST_F(ExplainJob, AJobThatEndsSoonIsStartedMoreOften) {
  EXPECT_EQ(explain({"load=2", "compute=20", "fixed=0.8", "length=120"}), 0);
  EXPECT_TRUE(says("What binds this job: time per step that no item needs"));
  for (const json& record : records_in("run")) EXPECT_NE(record["status"], "CRASHED") << record["reason"];
}

// Its starts have steps for one change each: with twice the batch it must not be given the loader's gain.
TEST_F(ExplainJob, InStartsOfOneChangeEachTheLoaderIsNoFixedTime) {
  EXPECT_EQ(explain({"load=30", "workers=8", "workers_help=no", "length=100"}), 0);
  EXPECT_FALSE(says("What binds this job: time per step that no item needs")) << output();
}

TEST_F(ExplainJob, AJobThatEndsBeforeAnyChangeSaysSo) {
  EXPECT_EQ(explain({"workers=16", "length=45"}), 0);
  EXPECT_TRUE(says("loader_alone, added_step_time: the job ends after 45\n  steps, too early for it"))
      << output();
}

TEST_F(ExplainJob, AJobThatEndsBeforeItCanBeMeasuredSaysSo) {
  EXPECT_EQ(explain({"length=9"}, {"--within", "20s"}), 1);
  EXPECT_TRUE(says("at most 20 s; records: ")) << errors();
  EXPECT_TRUE(says("fewer than are to be measured")) << output();
}

TEST_F(ExplainJob, OnlyNamedChangesRunWithThoseTheyAreComparedWith) {
  EXPECT_EQ(explain({}, {"--change", "double_batch"}), 0);
  EXPECT_EQ(changes("OK"), (std::set<std::string>{"unchanged", "replayed", "double_batch", "no_logging",
                                                  "no_metrics", "free_cores"}));
}

TEST_F(ExplainJob, TheQuotaOfItsControlGroupIsLifted) {
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

}  // namespace harness::own_job_test
