// unit: the peer scripts in Python: a missing or wrong program, package, file or number gives a sentence with
// the next step and no traceback.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "harness/base/child_process.h"
#include "tests/support/failure_of.h"

namespace peer_scripts_test {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// The scripts in a copy of the project in which nothing is built; -S disables installed Python packages.
class PeerScripts : public testing::Test {
 protected:
  void SetUp() override {
    if (!base::program_exists("python3")) GTEST_SKIP() << "no python3";
    project = fs::temp_directory_path() / ("peer_scripts_" + std::to_string(::getpid()));
    fs::remove_all(project);
    for (const char* folder : {"bench/peers/pytorch", "bench/peers/dlio", "scripts", "build/release"})
      fs::create_directories(project / folder);
    for (const char* folder : {"bench/peers/pytorch", "bench/peers/dlio", "scripts"})
      for (const auto& entry : fs::directory_iterator(fs::path(SOURCE_DIR) / folder))
        if (entry.is_regular_file()) fs::copy(entry.path(), project / folder);
  }
  void TearDown() override {
    if (!project.empty()) fs::remove_all(project);
  }
  void write(const fs::path& file, const std::string& text) {
    fs::create_directories((project / file).parent_path());
    std::ofstream(project / file) << text;
    fs::permissions(project / file, fs::perms::owner_all);
  }
  // The script's error message, which must not be a traceback.
  std::string failure(Words command) {
    command[1] = project / command[1];
    if (command[0] == "python3") command.insert(command.begin() + 1, {"-S", "-B"});
    base::Command program;
    program.arguments = command;
    program.environment["PYTHONPATH"] = project / "packages";
    program.errors_to_output = true;
    const base::Finished finished = base::run_to_end(program);
    EXPECT_NE(finished.exit_code, 0) << finished.output;
    EXPECT_EQ(finished.output.find("Traceback"), std::string::npos) << finished.output;
    return finished.output;
  }
  fs::path project;
};

TEST_F(PeerScripts, AProgramThatIsNotBuiltIsNamedWithWhatBuildsIt) {
  std::string said;
  for (const char* what : {"ddp", "strategies"}) {
    said = failure({"python3", "bench/peers/pytorch/compare.py", what});
    EXPECT_SAYS(said, "build/release/run_matrix: expected a program, which is not built");
    EXPECT_SAYS(said, "next: ./run_matrix builds it");
  }
  for (const char* script : {"scripts/prove_compare", "scripts/prove_calibration"}) {
    said = failure({"bash", script});
    EXPECT_SAYS(said, "build/release/run_matrix is not built");
    EXPECT_SAYS(said, "next: ");
  }
}

TEST_F(PeerScripts, APackageThatIsMissingIsNamedWithWhatInstallsIt) {
  for (const char* program : {"run_matrix", "train_slice"})
    write(fs::path("build/release") / program, "#!/bin/sh\n");
  for (const Words& command : {Words{"python3", "bench/peers/pytorch/compare.py", "ddp"},
                               Words{"python3", "bench/peers/pytorch/ddp.py", "4", "32", "30", "150"}}) {
    const std::string said = failure(command);
    EXPECT_SAYS(said, "expected a Python with ");
    EXPECT_SAYS(said, "torch");
    EXPECT_SAYS(said, "pip install ");
  }
  EXPECT_SAYS(failure({"python3", "bench/peers/dlio/compare.py"}), "--no-deps dlio-benchmark==2.0.0");
}

TEST_F(PeerScripts, AFileOrNumberThatIsWrongIsNamed) {
  for (const char* package : {"numpy", "torch", "torch/distributed", "torchvision", "torchvision/models"})
    write(fs::path("packages") / package / "__init__.py", "");
  write("packages/torchvision/models/resnet.py", "BasicBlock = ResNet = None\n");
  for (const char* number : {"x", "0", "-1", "1.5"}) {
    EXPECT_SAYS(failure({"python3", "bench/peers/pytorch/ddp.py", number, "1", "1", "1"}),
                "expected a whole number above 0");
    EXPECT_SAYS(failure({"python3", "bench/peers/pytorch/compare.py", "ddp", number}),
                "expected a whole number above 0");
  }
  EXPECT_SAYS(failure({"python3", "bench/peers/pytorch/ddp.py"}), "Usage: ");
  EXPECT_SAYS(failure({"python3", "bench/peers/dlio/compare.py", "--settings", "v100"}),
              "expected some of a100,h100,a100-disk, found 'v100'");
  for (const char* number : {"x", "0", "1.5"})
    EXPECT_SAYS(failure({"python3", "bench/peers/dlio/compare.py", "--repeats", number}),
                "expected a whole number above 0");
  write("gpu/kernels.json", R"({"benchmarks": [
    {"run_type": "iteration", "name": "copy/batch/float32/pinned/", "bytes_per_second": 1},
    {"run_type": "iteration", "name": "copy/bare/pinned/", "bytes_per_second": 2}]})");
  write("gpu/collectives.json", R"({"benchmarks": [
    {"run_type": "iteration", "run_name": "all_reduce/nccl/bytes:1024/manual_time", "bus_bandwidth": 3e9},
    {"run_type": "aggregate", "run_name": "all_reduce/nccl/bytes:1024/manual_time", "bus_bandwidth": 9e9},
    {"run_type": "iteration", "run_name": "reduce/nccl/bytes:1024/manual_time", "error_message": "wrong result"}]})");
  const std::string said = failure({"python3", "scripts/gpu_figures.py", project / "gpu"});
  EXPECT_SAYS(said, "0.500  MISSED");
  EXPECT_SAYS(said, "bus bandwidth 3.00 GB/s");
  EXPECT_NE(said.find("reduce/nccl/bytes:1024 "), said.npos) << said;
  EXPECT_SAYS(said.substr(said.find("3.00 GB/s")), "not measured");
  write("gpu/kernels.json", R"({"benchmarks": [)");
  write("gpu/float32/records.jsonl", R"({"status": "OK", "row": "plain", "images_per_second": 1})"
                                     "\n"
                                     R"({"status": "OK", "row": "plain-eager", "images_per_second": 2})");
  const std::string cut = failure({"python3", "scripts/gpu_figures.py", project / "gpu"});
  EXPECT_SAYS(cut, "kernels.json: ends early");
  EXPECT_SAYS(cut, "0.500  MISSED");
  write("gpu/loader/records.jsonl", "{\"status\": \"OK\"}\n{\"sta");
  EXPECT_SAYS(failure({"python3", "scripts/gpu_figures.py", project / "gpu"}),
              "records.jsonl:2: expected JSON");
}

}  // namespace peer_scripts_test
