// unit: record, ab and feed on a command, with a fake job that reports known times at once, and bad input.
#include <fstream>

#include "tests/support/own_job.h"

namespace harness::own_job_test {

class JobCommands : public OwnJob {};

TEST_F(JobCommands, RecordKeepsOneRunAndItsPhases) {
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
  EXPECT_TRUE(says("1 of 1 rows ran on its processor"));
}

TEST_F(JobCommands, TwoCommandsAreComparedInBlocks) {
  const std::string job = SOURCE_DIR "/tests/own_job/fake_job.py";
  EXPECT_EQ(run({"ab", "--keep-disturbed", "--out", directory / "run", "--", "python3", job, "load=2", "---",
                 "python3", job, "load=2", "compute=25"}),
            4)
      << "B is slower";
  EXPECT_TRUE(says("SLOWER")) << output();
  EXPECT_EQ(records_in("run/A").size(), 9u);
}

TEST_F(JobCommands, FeedTellsHowManyDevicesItsLoaderFeeds) {
  EXPECT_EQ(with_job("feed", {"--images-per-s", "1000"}, {"load=20", "workers=2"}), 0);
  EXPECT_TRUE(says("It feeds: 3.2"));
  const std::string answer = content_of(directory / "run/feed.txt");
  EXPECT_TRUE(says(answer)) << answer;
  EXPECT_EQ(run({"report", directory / "run"}), 0);
  EXPECT_TRUE(says(answer)) << output();
  EXPECT_SAYS(content_of(directory / "run/report.html"), "It feeds");
  EXPECT_FALSE(says("What binds"));
  EXPECT_FALSE(says("Measured with")) << "settings of a row";
  fs::remove_all(directory / "run");
  EXPECT_EQ(with_job("feed", {"--step-ms", "5"}, {"load=20", "workers=2"}), 4) << "a batch of 32 takes 10 ms";
  EXPECT_TRUE(says("One device takes: 6400 items/s, a batch of 32 in 5 ms"));
  fs::remove_all(directory / "run");
  EXPECT_EQ(with_job("feed", {"--step-ms", "20"}, {"load=20", "workers=2", "world=2"}), 0);
  EXPECT_TRUE(says("One device takes: 1600 items/s, a batch of 32 in 20 ms")) << "of one rank, not of both";
  fs::remove_all(directory / "run");
  EXPECT_EQ(with_job("feed", {"--device", "test-150"}, {"load=20", "workers=2"}), 0);
  EXPECT_TRUE(says("One device takes: 150 items/s, a batch of 32 in 213.3 ms"));
  fs::remove_all(directory / "run");
  EXPECT_EQ(with_job("feed", {"--device", "v100-article"}, {"load=20"}), 2);
  EXPECT_TRUE(says("it has several models; name its model with --model: resnet18, resnet50"));
  EXPECT_EQ(with_job("feed", {"--device", "v100-article", "--model", "resnet18"}, {"load=20"}), 2);
  EXPECT_TRUE(says("it has several precisions; name its precision with --precision: ")) << "two models";
}

TEST_F(JobCommands, ALoaderThatEndsBeforeItWasDrainedHasNoFigure) {
  EXPECT_EQ(with_job("feed", {"--step-ms", "5"}, {"workers=4", "length=20"}), 3);
  EXPECT_TRUE(says("no figure: the job ended before its loader was drained of 128 batches")) << output();
}

TEST_F(JobCommands, AnotherProgramsStepsAreToldByItsLines) {
  const auto with_lines = [&](const std::string& script) {
    fs::remove_all(directory / "run");
    return run({"record", "--keep-disturbed", "--steps", "20", "--warmup", "5", "--step-line", "step [0-9]+",
                "--out", directory / "run", "--", "sh", "-c", script});
  };
  const auto expect_no_figure = [&](const std::string& script, const std::string& why) {
    EXPECT_EQ(with_lines(script), 1);
    const json record = records_in("run").at(0);
    EXPECT_FALSE(record.contains("images_per_second"));
    EXPECT_FALSE(says("timed batches")) << output();
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

TEST_F(JobCommands, BadInputIsRefusedBeforeAnythingStarts) {
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
  for (const std::vector<std::string>& of_rows : std::vector<std::vector<std::string>>{{"--dry-run"},
                                                                                       {"--only", "0"},
                                                                                       {"--set", "batch=8"},
                                                                                       {"--device=cpu"},
                                                                                       {"--scale", "smoke"},
                                                                                       {"--trace"}})
    for (const std::vector<std::string>& job : std::vector<std::vector<std::string>>{
             {"record", "--", "true"}, {"explain", "--", "true"}, {"ab", "--", "true", "---", "true"}}) {
      std::vector<std::string> words = job;
      words.insert(words.begin() + 1, of_rows.begin(), of_rows.end());
      refused(words, "has no meaning for " + job[0]);
    }
  refused({"feed", "--step-ms", "5", "--set", "batch=8", "--", "true"}, "--set: has no meaning for feed");
  refused({"record", "--repeat", "3", "--", "true"}, "--repeat: has no meaning for record");
  EXPECT_FALSE(fs::exists(directory / "run/records.jsonl"));
}

}  // namespace harness::own_job_test
