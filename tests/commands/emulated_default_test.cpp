// unit: without a GPU rows run on emulated devices, at a time scale that suits the machine, where no option
// says otherwise; from outside, with a fake train_slice.
#include <fmt/format.h>

#include "harness/contract/machine.h"
#include "tests/support/program.h"

namespace harness::emulated_default_test {

class EmulatedDefault : public Program {
 protected:
  void SetUp() override { write_files_that_are_no_images(); }
  // The record of the row, or an empty object with a failure.
  json record_of(const std::string& row, std::vector<std::string> more, const std::string& loader = "1e6",
                 const std::string& decoding = "1e6") {
    more.insert(more.end(), {"--only", row, "--data", directory / "data", "--repeat-within", "0s", "--out",
                             directory / "run"});
    fs::remove_all(directory / "run");
    run(more, {{"FAKE_LOADER", loader}, {"FAKE_DECODING", decoding}});
    const std::vector<json> all = records_in("run");
    EXPECT_EQ(all.size(), 1u) << errors();
    return all.empty() ? json::object() : all[0];
  }
  std::string device_of(const std::string& row, const std::vector<std::string>& more) {
    const json record = record_of(row, more);
    return record["device"]["kind"].get<std::string>() + " at " + record["scale"]["name"].get<std::string>();
  }
};

using Words = std::vector<std::string>;

TEST_F(EmulatedDefault, RowsRunOnEmulatedDevicesUnlessTheyCannot) {
  EXPECT_EQ(device_of("0", {"--set", "storage=synthetic"}), "emulated at emulated");
  EXPECT_EQ(device_of("0", {"--set", "storage=synthetic", "--scale", "emulated"}), "emulated at emulated");
  EXPECT_EQ(device_of("0", {"--set", "storage=synthetic", "--device", "cpu"}), "cpu at rehearsal");
  EXPECT_EQ(device_of("0", {"--set", "storage=synthetic", "--scale", "smoke"}), "cpu at smoke");
  EXPECT_EQ(device_of("0", {"--set", "storage=synthetic", "--set", "precision=bf16"}), "cpu at rehearsal")
      << "the device file has no times of bf16";
}

TEST_F(EmulatedDefault, TheTimeScaleFollowsFromWhatTheMachineDecodes) {
  const Words files = {"--set", "storage=files", "--set", "cache=as_is"};
  EXPECT_EQ(record_of("0", files, "1e6", "1e5")["config"]["time_scale"], 1);
  const json slow = record_of("0", files, "1e6", "300");
  EXPECT_EQ(slow["config"]["time_scale"], 4) << "954 images/s of row 0 / 300, and a margin";
  EXPECT_EQ(slow["scale"]["decoded_images_per_s"], 300);
  EXPECT_TRUE(says("in the devices' time ("));
  EXPECT_EQ(record_of("0", {"--set", "storage=synthetic", "--set", "time_scale=3"})["config"]["time_scale"],
            3);
}

TEST_F(EmulatedDefault, ARunThatEndedBeforeItsFirstRecordChoosesTheTimeScaleWhenItGoesOn) {
  record_of("0", {"--set", "storage=files", "--set", "cache=as_is"}, "1e6", "300");
  write_records("run", {});
  EXPECT_EQ(run({"--resume", directory / "run"}, {{"FAKE_LOADER", "1e6"}, {"FAKE_DECODING", "300"}}), 0)
      << errors();
  const std::vector<json> all = records_in("run");
  ASSERT_EQ(all.size(), 1u) << errors();
  EXPECT_EQ(all[0]["config"]["time_scale"], 4);
}

TEST_F(EmulatedDefault, WhereDecodingCannotBeMeasuredAPlanTakesTheUsualRateOfEachCore) {
  std::ofstream(directory / "machine.yaml")
      << fmt::format("cores: {}\nmemory_gib: 128\n", describe_machine().cores.value_or(1));
  const auto time_scale = [&](Words more) {
    more.insert(more.begin(), {"--scale", "emulated", "--device", "emulated", "--only", "0", "--set",
                               "storage=files", "--set", "cache=as_is", "--dry-run"});
    EXPECT_EQ(run(more), 0) << errors();
    const std::string plan = output();
    const size_t at = plan.find("time x ");
    return at == plan.npos ? "none in " + plan : plan.substr(at, plan.find_first_of(",;\n", at) - at);
  };
  EXPECT_EQ(time_scale({}), time_scale({"--machine", directory / "machine.yaml"}));
}

TEST_F(EmulatedDefault, ARowThatTheMachineHeldUpRunsAgainMoreSlowly) {
  const Words files = {"--set", "storage=files", "--set", "cache=as_is"};
  // The devices of row 0 take 954 images/s at x 1, and this loader gives them 400.
  const json again = record_of("0", files, "400");
  EXPECT_EQ(again["status"], "OK") << again["reason"];
  EXPECT_EQ(again["config"]["time_scale"], 4);
  EXPECT_NE(again["notes"].dump().find("ran again, because at time x 2 cores: the devices waited"),
            std::string::npos)
      << again["notes"];
  const json starved = record_of("0", files, "40");
  EXPECT_EQ(starved["status"], "INVALID") << "after three runs";
  EXPECT_FALSE(starved.contains("total_s"));
}

}  // namespace harness::emulated_default_test
