// unit: the commands of a row's ranks under each launcher, and which launcher the environment asks for.
#include "harness/launch/rank_commands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/base/process_limits.h"
#include "harness/plan/instruments.h"
#include "harness/plan/plan.h"
#include "harness/run/row_checks.h"
#include "tests/support/failure_of.h"
#include "tests/support/temporary_folder.h"

namespace harness::rank_commands_test {

const AxisValues kValues = decode<AxisValues>(nlohmann::json::parse(R"({
  "strategy": [{"name": "single", "traits": {"process_per_device": false}},
               {"name": "ddp", "traits": {"process_per_device": true}}],
  "backend": [{"name": "none", "traits": {}}, {"name": "gloo", "traits": {}},
              {"name": "mpi", "traits": {"started_by_mpi": true}}]})"));

class RankCommands : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"TORCHELASTIC_RUN_ID", "SLURM_JOB_NUM_NODES", "SLURM_JOB_NODELIST"})
      ::unsetenv(name);
    row.strategy = "ddp";
    row.backend = "mpi";
    row.devices = 4;
    setting.directory = "RUN";
  }
  Launch launch() {
    return rank_commands(row, kValues, {"/p", "/p/train_slice", "/p/make_dataset", "/p/results"}, request,
                         setting);
  }
  std::string line(size_t command = 0) { return base::shell_line(launch().commands.at(command)); }
  bool has(const std::string& words) { return line().find(words) != std::string::npos; }
  Row row;
  Request request;
  LaunchSetting setting;
};

TEST_F(RankCommands, LocalStartsAProcessForEachRank) {
  row.backend = "gloo";
  setting.listen_fd = 7;
  const Launch it = launch();
  EXPECT_EQ(it.launcher, "local");
  EXPECT_TRUE(it.command_per_rank);
  ASSERT_EQ(it.commands.size(), 4u);
  for (int rank = 0; rank < 4; ++rank) {
    const auto& environment = it.commands[size_t(rank)].environment;
    EXPECT_EQ(environment.at("RANK"), std::to_string(rank));
    EXPECT_EQ(environment.at("WORLD_SIZE"), "4");
    EXPECT_EQ(environment.count("MASTER_LISTEN_FD"), rank == 0 ? 1u : 0u);
  }
}

TEST_F(RankCommands, ARankOfAnotherProgramIsNoneOfMpisOrSlurms) {
  for (const char* launcher : {"local", "mpirun", "slurm"}) {
    request.launcher = launcher;
    const std::vector<std::string> without = launch().commands.at(0).without;
    for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "GROUP_RANK", "SLURM_NODEID"})
      EXPECT_TRUE(std::ranges::count(without, name)) << launcher << " " << name;
  }
  ::setenv("WORLD_SIZE", "8", 1);
  EXPECT_TRUE(has("env -u WORLD_SIZE srun")) << line();
  ::unsetenv("WORLD_SIZE");
}

TEST_F(RankCommands, RanksOnGpusChooseAmongAllCores) {
  row.backend = "gloo";
  row.cpus = 1;
  EXPECT_EQ(launch().commands.at(0).cpus.size(), 1u);
  row.device = "cuda";
  EXPECT_EQ(launch().commands.at(0).cpus, base::available_cpus());
  row.backend = "mpi";
  EXPECT_EQ(launch().commands.at(0).cpus, base::available_cpus());
}

TEST_F(RankCommands, RowsOverMpiAreStartedByMpirunHere) {
  EXPECT_FALSE(launch().command_per_rank);
  EXPECT_TRUE(has("mpirun -np 4 --map-by ppr:4:node --host localhost:4")) << line();
  EXPECT_TRUE(has("/p/train_slice --job RUN/job.json")) << line();
  EXPECT_FALSE(has("MASTER_ADDR")) << line();
}

TEST_F(RankCommands, TwoNodesOnThisMachineAreEntered) {
  row.nodes = 2;
  EXPECT_TRUE(has("--host node0:4,node1:4")) << line();
  EXPECT_EQ(launch().commands[0].arguments[0], "nsenter");
  EXPECT_TRUE(has("OMPI_MCA_coll_libnbc_iallreduce_algorithm=1")) << "the link's proof expects a ring";
  row.backend = "gloo";
  ASSERT_EQ(launch().commands.size(), 8u);
  EXPECT_SAYS(line(0), "NODE0");
  EXPECT_SAYS(line(7), "NODE1");
  EXPECT_SAYS(line(7), "MASTER_ADDR=10.77.0.1");
  EXPECT_SAYS(line(7), "LOCAL_RANK=3");
}

TEST_F(RankCommands, HostsMeanMpirun) {
  request.hosts = "a:4,b:4";
  request.interface = "ib0";
  row.nodes = 2;
  EXPECT_EQ(launch().launcher, "mpirun");
  EXPECT_TRUE(has("--host a:4,b:4")) << line();
  EXPECT_TRUE(has("OMPI_MCA_btl_tcp_if_include=ib0")) << line();
  EXPECT_FALSE(has("nsenter")) << line();
  EXPECT_FALSE(has("--mca btl ")) << "on a cluster OpenMPI chooses by itself: " << line();
  EXPECT_FALSE(has("MASTER_ADDR")) << "the interface is given: " << line();
  request.interface = "";
  EXPECT_TRUE(has("MASTER_ADDR=a")) << "each rank finds the interface towards it: " << line();
  EXPECT_TRUE(has("-x MASTER_ADDR")) << line();
  row.nodes = 1;
  EXPECT_FALSE(has("MASTER_ADDR")) << line();
  row.nodes = 2;
  row.backend = "gloo";
  setting.port = 4711;
  EXPECT_TRUE(has("MASTER_ADDR=a")) << line();
  EXPECT_TRUE(has("MASTER_PORT=4711")) << line();
  EXPECT_TRUE(has("-x MASTER_ADDR")) << line();
}

TEST_F(RankCommands, TheStoreListensOnTheFirstHostOfAHostfile) {
  const TemporaryFolder folder;
  request.hostfile = folder / "hosts";
  row.nodes = 2;
  for (const char* first : {"node1", "  node1 slots=4", "user@node1 slots=4", "node1\r", "node1#fast"}) {
    std::ofstream(request.hostfile) << "# nodes\n\n" << first << "\nnode2\n";
    EXPECT_EQ(launch().commands.at(0).environment["MASTER_ADDR"], "node1") << first;
  }
}

TEST_F(RankCommands, AnAllocationOfSeveralNodesMeansSrun) {
  ::setenv("SLURM_JOB_NUM_NODES", "2", 1);
  row.nodes = 2;
  EXPECT_EQ(launch().launcher, "slurm");
  EXPECT_TRUE(has("srun --nodes=2 --ntasks=8 --ntasks-per-node=4")) << line();
  EXPECT_TRUE(has("--mpi=pmix")) << line();
  EXPECT_TRUE(has("MASTER_ADDR=")) << line();
  EXPECT_TRUE(has("OMPI_MCA_coll_libnbc_iallreduce_algorithm=1")) << line();
  ::setenv("SLURM_JOB_NUM_NODES", "1", 1);
  EXPECT_EQ(launch().launcher, "local");
  ::unsetenv("SLURM_JOB_NUM_NODES");
}

TEST_F(RankCommands, ARowNeedsAProcessorForEachRankOfEachNodeOfAnAllocation) {
  row.nodes = 2;
  const auto why = [&](const char* processors) {
    ::setenv("SLURM_JOB_CPUS_PER_NODE", processors, 1);
    const std::string reason = why_not_in_allocation(row, kValues);
    ::unsetenv("SLURM_JOB_CPUS_PER_NODE");
    return reason;
  };
  for (const char* fits : {"4(x2)", "4,4", "16(x3)", "1,8,4(x2)"}) EXPECT_EQ(why(fits), "") << fits;
  for (const char* unknown : {"", "many", "4(x", "4(x2),"}) EXPECT_EQ(why(unknown), "") << unknown;
  for (const char* small : {"1(x2)", "3(x8)", "8", "7,1"}) {
    EXPECT_SAYS(why(small), "4 processes on each of 2 nodes");
    EXPECT_SAYS(why(small), "salloc -N2 -n8 --ntasks-per-node=4");
    EXPECT_SAYS(why(small), small);
  }
  row.nodes = 1;
  EXPECT_EQ(why("7,1"), "") << "one of the nodes is enough for it";
  EXPECT_SAYS(why("1(x2)"), "salloc -N1 -n4 --ntasks-per-node=4");
  row.strategy = "single";
  EXPECT_EQ(why("1(x2)"), "");
}

TEST_F(RankCommands, ARowThatDoesNotFitIntoTheAllocationIsSkippedBeforehand) {
  row.nodes = 2;
  request.launcher = "slurm";
  ::setenv("SLURM_JOB_ID", "1", 1);
  ::setenv("SLURM_JOB_CPUS_PER_NODE", "1(x2)", 1);
  const auto plan = make_plan(
      {row}, kValues, request, [&](const Row& one) { return why_not_started(one, kValues, request); }, 2);
  const std::string reason = plan.at(0).skip_reason;
  for (const char* name : {"SLURM_JOB_ID", "SLURM_JOB_CPUS_PER_NODE"}) ::unsetenv(name);
  EXPECT_SAYS(reason, "salloc -N2 -n8");
}

TEST_F(RankCommands, TorchrunMeansOneRankForEachRunMatrix) {
  ::setenv("TORCHELASTIC_RUN_ID", "x", 1);
  row.backend = "gloo";
  EXPECT_EQ(launch().launcher, "env");
  EXPECT_EQ(launch().commands.size(), 1u);
  EXPECT_FALSE(has("RANK=")) << "that is what the environment says";
  ::unsetenv("TORCHELASTIC_RUN_ID");
}

TEST_F(RankCommands, AWrapperIsForOneRankOnly) {
  row.backend = "gloo";
  request.wrap = "gdb -batch -ex 'run' --args";
  request.wrap_rank = 2;
  for (size_t rank : {0, 1, 3})
    EXPECT_EQ(launch().commands.at(rank).arguments, (Words{"/p/train_slice", "--job", "RUN/job.json"}))
        << rank;
  EXPECT_EQ(launch().commands.at(2).arguments,
            (Words{"sh", "-c", "cd \"$0\" && exec gdb -batch -ex 'run' --args \"$@\" </dev/null", "RUN",
                   "/p/train_slice", "--job", "RUN/job.json"}));
  row.nodes = 2;
  EXPECT_EQ(launch().commands.at(2).arguments[0], "nsenter") << "inside its node, and outside of the wrapper";
  EXPECT_EQ(launch().commands.at(2).arguments[3], "sh");
}

TEST_F(RankCommands, RanksOfOneCommandAskWhetherTheyAreWrapped) {
  request.wrap = "strace -f";
  request.wrap_rank = 3;
  const auto tail = [&] {
    const Words words = launch().commands.at(0).arguments;
    return Words(words.end() - 6, words.end());
  };
  const auto expected = [](const std::string& variable) {
    return Words{
        "-c",
        "[ \"$" + variable + "\" = 3 ] || exec \"$@\"; cd \"$0\" && exec strace -f \"$@\" </dev/null",
        "RUN",
        "/p/train_slice",
        "--job",
        "RUN/job.json"};
  };
  EXPECT_EQ(tail(), expected("OMPI_COMM_WORLD_RANK"));
  request.hosts = "a:4";
  EXPECT_EQ(tail(), expected("OMPI_COMM_WORLD_RANK"));
  request.hosts = "";
  request.launcher = "slurm";
  EXPECT_EQ(tail(), expected("SLURM_PROCID"));
}

TEST_F(RankCommands, TheRankThatTorchrunNamesIsWrapped) {
  request.launcher = "env";
  row.backend = "gloo";
  request.wrap = "strace";
  EXPECT_TRUE(has("exec strace")) << line();
  ::setenv("RANK", "1", 1);
  EXPECT_FALSE(has("exec strace")) << line();
  request.wrap_rank = 1;
  EXPECT_TRUE(has("exec strace")) << line();
  ::unsetenv("RANK");
}

TEST_F(RankCommands, AWrapperNeedsARankOfTheRow) {
  request.wrap = "strace";
  request.wrap_rank = 3;
  EXPECT_EQ(failure_of([&] { check_wrap(request, row, kValues); }), "");
  request.wrap_rank = 4;
  EXPECT_SAYS(failure_of([&] { check_wrap(request, row, kValues); }), "0-3");
}

TEST_F(RankCommands, OnEveryNodeRunsOnceOnEach) {
  request.hosts = "a:4,b:4";
  EXPECT_EQ(on_every_node(request, 2, {"true"}).arguments.back(), "true");
  EXPECT_SAYS(base::shell_line(on_every_node(request, 2, {"true"})), "ppr:1:node");
  EXPECT_TRUE(on_every_node({}, 2, {"true"}).arguments.empty()) << "this machine needs no help";
}

}  // namespace harness::rank_commands_test
