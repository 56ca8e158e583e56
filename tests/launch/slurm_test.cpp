// net: rows through srun on a real Slurm cluster of two nodes (tests/launch/slurm_cluster.sh), over MPI and
// over Gloo.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/base/child_process.h"
#include "tests/support/failure_of.h"
#include "tests/support/temporary_folder.h"

namespace slurm_test {

namespace fs = std::filesystem;
using nlohmann::json;

class Slurm : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "Slurm's daemons need root";
    for (const char* program : {"slurmctld", "slurmd", "munged", "srun"})
      if (!base::program_exists(program) && !fs::exists(std::string("/usr/sbin/") + program))
        GTEST_SKIP() << "no " << program << ": apt-get install slurm-wlm munge";
  }
  // Runs rows in an allocation of both nodes on CPUs; returns the records by row.
  std::map<std::string, json> run(const std::vector<std::string>& more,
                                  const std::vector<std::string>& asked = {"--ntasks=8",
                                                                           "--ntasks-per-node=4"}) {
    base::Command command;
    command.arguments = {SOURCE_DIR "/tests/launch/slurm_cluster.sh", "salloc", "--nodes=2"};
    const std::vector<std::string> program = {
        BINARY_DIR "/run_matrix", "--launcher", "slurm", "--device", "cpu", "--scale", "smoke", "--out",
        directory / "run"};
    for (const auto* words : {&asked, &program, &more})
      command.arguments.insert(command.arguments.end(), words->begin(), words->end());
    command.environment = {{"RUN_MATRIX_PLOTS", "specs"}};
    command.errors_to_output = true;
    output = base::run_to_end(command).output;
    std::map<std::string, json> records;
    std::ifstream stream(directory / "run" / "records.jsonl");
    for (std::string line; std::getline(stream, line);) {
      json record = json::parse(line);
      records[record["row"]] = record;
    }
    return records;
  }
  const TemporaryFolder folder;
  const fs::path directory = folder;
  std::string output;
};

TEST_F(Slurm, RunsRowsOverMpi) {
  auto records = run({"--only", "0,12,17,18"});
  EXPECT_EQ(records["0"]["status"], "OK") << output;
  EXPECT_EQ(records["12"]["status"], "OK") << output;
  EXPECT_EQ(records["12"]["launcher"], "slurm");
  EXPECT_EQ(records["12"]["rank_map"].size(), 4u);
  EXPECT_EQ(records["12"]["emulated"], json::array());
  // Both nodes are this machine and ranks of one node use the same interface: the link check detects it.
  EXPECT_EQ(records["17"]["status"], "INVALID");
  const std::string why = records["17"]["reason"];
  if (why.find("leads to the loopback") == std::string::npos) {  // as where the host's name is 127.0.1.1
    EXPECT_EQ(records["17"]["rank_map"][7]["node"], 1) << output;
    EXPECT_SAYS(why, "took another path") << output;
  }
  if (!fs::exists("/sys/class/infiniband")) {
    EXPECT_EQ(records["18"]["status"], "INVALID");
    EXPECT_SAYS(records["18"]["reason"].get<std::string>(), "no active InfiniBand port") << output;
  }
}

TEST_F(Slurm, RunsRowsOverGloo) {
  auto records = run({"--only", "12,15", "--set", "backend=gloo"});
  EXPECT_EQ(records["12"]["status"], "OK") << output;
  EXPECT_EQ(records["15"]["status"], "OK") << output;
}

TEST_F(Slurm, RowsThatTheAllocationHasNoProcessorsForAreSkipped) {
  auto records = run({"--only", "0,12,17"}, {});
  EXPECT_EQ(records["0"]["status"], "OK") << output;
  for (const auto& [row, command] : {std::pair("12", "salloc -N1 -n4 --ntasks-per-node=4"),
                                     std::pair("17", "salloc -N2 -n8 --ntasks-per-node=4")}) {
    EXPECT_EQ(records[row]["status"], "SKIPPED") << output;
    EXPECT_SAYS(records[row]["reason"].get<std::string>(), command) << output;
  }
}

// Each node writes its night into one history, and a job after them reports; a drained node is left out.
TEST_F(Slurm, SubmitsANightForEachNode) {
  const std::string history = directory / "history";
  base::Command command;
  command.arguments = {
      SOURCE_DIR "/tests/launch/slurm_cluster.sh",
      "bash",
      "-c",
      "RUN=$1 HISTORY=$2\n"
      "$RUN fleet submit $HISTORY --slurm --now --nightly \"$3 $4 --scale smoke --only 0 --repeat 1 --no-report\" || exit\n"
      "for i in $(seq 240); do [[ -n $(squeue --noheader) ]] || break; sleep 1; done\n"
      "squeue; cat $HISTORY/slurm/*\n"
      "scontrol update NodeName=$(sinfo --noheader --Node --format=%N | head -1) State=DRAIN Reason=test\n"
      "$RUN fleet submit $HISTORY --slurm\n"
      "$RUN fleet submit $HISTORY --slurm --partition=nowhere",
      "-",
      BINARY_DIR "/run_matrix",
      history,
      "--device",
      "cpu"};
  command.errors_to_output = true;
  const std::string told = base::run_to_end(command).output;
  std::set<std::string> hosts;
  for (const auto& file : fs::recursive_directory_iterator(directory / "history"))
    if (file.path().extension() == ".json" && file.path().string().find("/night=") != std::string::npos)
      hosts.insert(file.path().parent_path().filename());
  EXPECT_EQ(hosts.size(), 1u) << "both nodes are this machine: " << told;
  EXPECT_SAYS(told, "a night on each of 2 nodes");
  EXPECT_SAYS(told, "not judged, 8 of the same hardware are needed") << "the report: " << told;
  EXPECT_SAYS(told, "# A night on 1 nodes; left out: ");
  EXPECT_SAYS(told, "no usable node in partition nowhere");
}

}  // namespace slurm_test
