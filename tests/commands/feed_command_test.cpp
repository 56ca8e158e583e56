// unit: the command feed from outside, with a fake train_slice whose loader has a known speed; bad input.
#include <algorithm>
#include <cmath>

#include "tests/support/embedded.h"
#include "tests/support/program.h"
#include "tests/support/small_images.h"

namespace harness::feed_command_test {

class Feed : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    bench::small_dataset(directory / "data", 64);
  }
  // v100-article computes 256 images in 255.6 ms: 1001.7 images/s.
  int feed(const std::string& devices, const std::string& loader, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"feed", "--device", "v100-article", "--devices", devices, "--data",
                               directory / "data", "--set", "cache=as_is", "--out", directory / "run"});
    return run(more, {{"FAKE_LOADER", loader}, {"FAKE_SLICE", behaviour}, {"FAKE_MEMORY", memory}});
  }
  // Sets --devices and the like to a wrong value, which is refused with these words before anything is made.
  void expect_refused(const std::vector<std::string>& words, const std::string& why) {
    std::vector<std::string> all = {"feed", "--out", directory / "run"};
    all.insert(all.end(), words.begin(), words.end());
    EXPECT_EQ(run(all), 2) << why;
    EXPECT_NE((output() + errors()).find(why), std::string::npos) << why << " in\n" << output() << errors();
    EXPECT_FALSE(fs::exists(directory / "run/records.jsonl"));
  }
  std::string behaviour, memory = "1e9";
};

TEST_F(Feed, FindsTheNumberThatTheLoaderFeedsAndConfirmsIt) {
  // 3000 images/s are 90 % of what 3.33 devices take.
  EXPECT_EQ(feed("3", "3000", {"--set", "cpus=2"}), 0) << errors();
  EXPECT_NE(output().find("3 x v100-article (emulated)?: YES"), std::string::npos) << output();
  EXPECT_NE(output().find("3 fed ("), std::string::npos) << output();
  EXPECT_NE(output().find("What binds: likely cores"), std::string::npos) << output();
  EXPECT_EQ(content_of(directory / "run/feed.txt"), output().substr(output().find("Can this machine")));
  for (const json& record : records_in("run")) {
    EXPECT_EQ(record["emulated"].size(), 1u) << "every record says that the device is emulated";
    EXPECT_EQ(record["feed"]["asked"], 3);
  }
  EXPECT_NE(output().find("Fed here: 3.33 devices by the loader's rate."), std::string::npos) << output();
  EXPECT_NE(output().find(", 4 not ("), std::string::npos) << output();
}

TEST_F(Feed, ANumberThatIsNotFedIsExitFour) {
  EXPECT_EQ(feed("8", "3000", {"--set", "loader_threads=1", "--set", "cpus=1"}), 4) << errors();
  EXPECT_NE(output().find("8 x v100-article (emulated)?: NO: their utilisation is 37.4 %"), std::string::npos)
      << output();
  EXPECT_NE(output().find("one loader thread can't be halved"), std::string::npos) << output();
  EXPECT_NE(output().find("extrapolated beyond 1"), std::string::npos) << output();
}

TEST_F(Feed, AHostThatCannotFeedOneDeviceGetsAFraction) {
  EXPECT_EQ(feed("1", "100"), 4) << errors();
  EXPECT_NE(output().find("Fed here: 0.111 devices by the loader's rate"), std::string::npos) << output();
  EXPECT_NE(output().find("Less than one device: one has 10.0 %"), std::string::npos) << output();
}

TEST_F(Feed, BatchesFitTheDevicesMemory) {
  // A loader so fast that it would take batches of 1024 images; 16 GiB hold 40.
  memory = "40";
  EXPECT_EQ(feed("3", "20000", {"--set", "cpus=2"}), 0) << errors();
  for (const json& record : records_in("run")) {
    EXPECT_NE(record["status"], "OUT_OF_MEMORY") << record["row"];
    if (record["config"]["part"] != "all") continue;
    EXPECT_LE(record["config"]["batch"], 40 * record["feed"]["devices"].get<double>()) << record["row"];
  }
  EXPECT_TRUE(says("What binds: likely cores"));
}

TEST_F(Feed, ADeviceTooSmallForAnyBatchIsSaid) {
  memory = "0";
  EXPECT_EQ(feed("3", "3000"), 3);
  EXPECT_TRUE(says("run asked-3 is SKIPPED: resnet18 doesn't fit into"));
  EXPECT_TRUE(says("The loader alone: 3000 images/s, 300 MB/s from storage"));
}

TEST_F(Feed, WhatBindsIsFoundBeforeTheConfirmation) {
  ASSERT_EQ(feed("3", "3000", {"--set", "cpus=2"}), 0) << errors();
  EXPECT_FALSE(says("in the devices' time")) << "its time_scale makes one device as fast as several";
  std::vector<std::string> purposes;
  for (const json& record : records_in("run")) purposes.push_back(record["feed"]["purpose"]);
  const auto at = [&](const char* purpose) { return std::find(purposes.begin(), purposes.end(), purpose); };
  EXPECT_LT(at("made_up"), at("confirm"));
  EXPECT_EQ(purposes[0], "survey");
  EXPECT_EQ(purposes[1], "asked");
  EXPECT_EQ(records_in("run")[0]["config"]["part"], "loading");
}

TEST_F(Feed, AReportFromTheRecordsSaysTheSame) {
  ASSERT_EQ(feed("2", "3000"), 0) << errors();
  const std::string said = content_of(directory / "run/feed.txt");
  fs::remove(directory / "run/feed.txt");
  ASSERT_EQ(run({"report", directory / "run"}), 0) << errors();
  EXPECT_EQ(content_of(directory / "run/feed.txt"), said);
  const json page = json::parse(element(content_of(directory / "run/report.html"), "page"));
  const json& section = page.at("sections").at(0);
  EXPECT_EQ(section.at("id"), "feed");
  EXPECT_EQ(section.at("blocks").at(0).at("facts").at(0).at(0),
            "Can this machine feed 2 x v100-article (emulated)?");
}

TEST_F(Feed, RunsThatFailLeaveTheQuestionOpen) {
  behaviour = "crash";
  EXPECT_EQ(feed("2", "3000"), 1) << errors();
  EXPECT_EQ(records_in("run").size(), 1u) << "nothing is known after the survey";
  EXPECT_NE(output().find("not measured"), std::string::npos) << output();
}

TEST_F(Feed, TimeThatIsUsedUpLeavesWhatWasMeasured) {
  EXPECT_EQ(feed("2", "3000", {"--within", "0.001s"}), 3) << errors();
  EXPECT_GE(records_in("run").size(), 1u);
  EXPECT_NE(output().find("not measured"), std::string::npos) << output();
}

TEST_F(Feed, TooFewImagesForAColdRowMeasureNothingAndSayWhy) {
  EXPECT_EQ(feed("2", "3000", {"--set", "cache=cold"}), 3) << errors();
  EXPECT_TRUE(says("a cold row reads each image at most once: it needs 3136 images, but the data has 64"));
}

TEST_F(Feed, BadInputIsRefusedWithTheReason) {
  const std::vector<std::string> device = {"--device", "v100-article"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), device.begin(), device.end());
    return more;
  };
  for (const char* devices : {"0", "-1", "x", "1.5", "", "1025"})
    expect_refused(with({"--devices", devices}), "--devices");
  expect_refused(with({}), "--devices is required");
  expect_refused({"--devices", "4"}, "--device is required");
  expect_refused({"--devices", "4", "--device", "v101"}, "no such device file; expected");
  expect_refused({"--devices", "4", "--device", "cuda:v100-article"}, "no such device file");
  expect_refused(with({"--devices", "4", "--storage", "tape"}), "--storage tape");
  expect_refused(with({"--devices", "4", "--storage", "synthetic"}), "made-up batches feed any number");
  expect_refused(with({"--devices", "4", "--model", "vit_tiny"}),
                 "no figures for model vit_tiny, which row feed asks for");
  expect_refused(with({"--devices", "4", "--set", "precision=bf16"}), "no figures for precision bf16");
  expect_refused(with({"--devices", "4", "--within", "10"}), "--within");
  expect_refused(with({"--devices", "4", "--within", "-5m"}), "--within");
  expect_refused(with({"--devices", "4", "--only", "7"}), "feed, which chooses its own runs");
  expect_refused(with({"--devices", "4", "--dry-run"}), "feed, which chooses its own runs");
  const fs::path earlier = directory / "earlier";
  fs::create_directory(earlier);
  for (const auto& [record, why] :
       {std::pair(R"({"feed": {}, "device_rates": {}})", "a run of `feed`, which can't be continued"),
        std::pair(R"({"intervention": {}, "job": {}})", "a run of `explain`, which can't be continued"),
        std::pair("{}", "request.json: no such file, which holds the options")}) {
    std::ofstream(earlier / "records.jsonl") << record << '\n';
    EXPECT_EQ(run({"--resume", earlier}), 2);
    EXPECT_TRUE(says(why)) << errors();
  }
  expect_refused(with({"--devices", "4", "--set", "time_scale=2"}), "feed chooses this field itself");
  expect_refused(with({"--devices", "4", "--storage", "tmpfs", "--set", "cache=cold"}), "no page cache");
}

}  // namespace harness::feed_command_test
