// unit: run_matrix on a user's folder: unsupported image formats are refused or left out, and the size of
// packed copies is reported.
#include <unistd.h>

#include "harness/base/interrupt.h"
#include "harness/data/data.h"
#include "tests/support/failure_of.h"
#include "tests/support/program.h"

namespace harness::users_images_test {

class UsersImages : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    data = directory / "data";
    ASSERT_EQ(::system((BINARY_DIR "/make_dataset standin --images 80 --classes 5 --out " + data.string() +
                        " > /dev/null 2>&1")
                           .c_str()),
              0);
  }
  void TearDown() override {
    for (const fs::path& run : {directory / "run", directory / "first"})
      if (fs::exists(run / "records.jsonl"))
        for (const json& record : records_in(run.filename()))
          if (record.contains("data"))
            fs::remove_all(fs::path(SOURCE_DIR "/data/packed") /
                           record["data"]["fingerprint"].get<std::string>());
    Program::TearDown();
  }

  fs::path data;
};

TEST_F(UsersImages, OfOtherFormatsAreRefusedUnlessToBeSkipped) {
  std::ofstream(data / "train/n00000001/photo.WebP") << "RIFF";
  EXPECT_EQ(smoke_in("run", "0", "", {"--data", data}), 2);
  EXPECT_TRUE(says("1 .webp (e.g. train/n00000001/photo.WebP)"));
  EXPECT_TRUE(says("--skip-unreadable"));
  fs::remove_all(directory / "run");
  ASSERT_EQ(smoke_in("run", "0", "", {"--data", data, "--skip-unreadable"}), 0);
  EXPECT_TRUE(says("left out 1 image in formats"));
  EXPECT_EQ(records_in("run")[0]["data"]["left_out"][".webp"], 1);
  EXPECT_EQ(json::parse(content_of(directory / "run/request.json"))["skip-unreadable"], true);
  fs::resize_file(directory / "run/records.jsonl", 0);
  EXPECT_EQ(run({"--resume", directory / "run"}), 0) << "as the run began";
  EXPECT_EQ(records_in("run").size(), 1u);
}

TEST_F(UsersImages, RunsThatBeganBeforeTheOptionGoOn) {
  ASSERT_EQ(smoke_in("run", "0", "", {"--data", data}), 0);
  EXPECT_FALSE(records_in("run")[0]["data"].contains("left_out"));
  json request = json::parse(content_of(directory / "run/request.json"));
  request.erase("skip-unreadable");
  std::ofstream(directory / "run/request.json") << request;
  fs::resize_file(directory / "run/records.jsonl", 0);
  EXPECT_EQ(run({"--resume", directory / "run"}), 0);
  EXPECT_EQ(records_in("run").size(), 1u);
}

TEST_F(UsersImages, PackedCopiesAreSaidWithTheirSize) {
  ASSERT_EQ(smoke_in("first", "0", "", {"--data", data, "--set", "storage=lmdb"}), 0);
  EXPECT_TRUE(says("data/packed holds "));
  std::ofstream(data / "train/n00000001/zz.JPEG") << "another set";
  fs::remove(data / "standin.json");
  ASSERT_EQ(smoke_in("run", "0", "", {"--data", data, "--set", "storage=synthetic"}), 0);
  EXPECT_TRUE(says("other data set")) << "though this run packs nothing";
  EXPECT_TRUE(says(" --keep " + records_in("run")[0]["data"]["fingerprint"].get<std::string>()));
}

TEST_F(UsersImages, TheirCopiesMayBeElsewhereThanInTheProject) {
  const fs::path elsewhere = directory / "elsewhere";
  ASSERT_EQ(run({"--scale", "smoke", "--only", "0", "--data", data, "--set", "storage=lmdb", "--out",
                 directory / "run"},
                {{"RUN_MATRIX_DATA", elsewhere}}),
            0);
  const std::string fingerprint = records_in("run")[0]["data"]["fingerprint"];
  EXPECT_TRUE(fs::exists(elsewhere / "packed" / fingerprint / "lmdb"));
  EXPECT_FALSE(fs::exists(fs::path(SOURCE_DIR "/data/packed") / fingerprint));
  std::ofstream(directory / "file") << "no folder";
  EXPECT_EQ(run({"--scale", "smoke", "--only", "0", "--data", data, "--out", directory / "run2"},
                {{"RUN_MATRIX_DATA", directory / "file"}}),
            2);
  EXPECT_TRUE(says("RUN_MATRIX_DATA names another folder than " + (directory / "file").string())) << errors();
}

// What preparing the data says where make_dataset is this script.
std::string failure(const std::string& script) {
  const TemporaryFolder folder;
  Installation installation;
  installation.make_dataset = folder / "make_dataset";
  std::ofstream(installation.make_dataset) << "#!/bin/sh\n" << script << '\n';
  fs::permissions(installation.make_dataset, fs::perms::owner_all);
  Request request;
  request.data = folder.path();
  return failure_of([&] { prepare_data(installation, request, {}, {}, {}); });
}

TEST(MakeDataset, ThatASignalReachesAloneIsReportedAsInterrupted) {
  EXPECT_SAYS(failure("exit 130"), "make_dataset was interrupted; start the same command again");
  EXPECT_SAYS(failure("kill -9 $$"), "make_dataset was ended by signal 9 (Killed)");
  EXPECT_SAYS(failure("exit 2"), "make_dataset ended with exit code 2");
}

TEST(MakeDataset, ThatCtrlCEndsIsNoFailure) {
  const auto interrupted = [] {  // in a process of its own: an interrupt can't be taken back
    base::note_interrupts();
    const std::string said = failure("kill -INT $PPID\nexit 130");
    std::cerr << said;
    _exit(said.empty() && base::interrupted() ? 130 : 1);
  };
  EXPECT_EXIT(interrupted(), testing::ExitedWithCode(130), "");
}

}  // namespace harness::users_images_test
