// unit: ranks on GPUs take the cores beside them, by made-up sysfs folders of machines with one and two
// sockets
#include "bench/train/gpu/gpu_cores.h"

#include <gtest/gtest.h>

#include <fstream>
#include <numeric>
#include <thread>

#include "harness/base/process_limits.h"
#include "tests/support/failure_of.h"
#include "tests/support/temporary_folder.h"

namespace bench::gpu_cores_test {

using Cores = std::vector<int>;

const std::string kA = "0000:17:00.0", kB = "0000:9A:00.0", kC = "0000:CA:00.0";

Cores from_to(int first, int last) {
  Cores cores(size_t(last - first + 1));
  std::iota(cores.begin(), cores.end(), first);
  return cores;
}

// Two sockets of 8 cores with two threads each. GPU A is at the first socket, B and C are at the second.
class GpuCores : public testing::Test {
 protected:
  GpuCores() {
    write("devices/system/node/online", "0-1");
    gpu("0000:17:00.0", "0", "0-7,16-23");
    gpu("0000:9a:00.0", "1", "8-15,24-31");
    gpu("0000:ca:00.0", "1", "8-15,24-31");
  }
  void write(const std::string& file, const std::string& text) {
    std::filesystem::create_directories((sysfs_ / file).parent_path());
    std::ofstream(sysfs_ / file) << text << '\n';
  }
  void gpu(const std::string& id, const std::string& node, const std::string& list) {
    write("bus/pci/devices/" + id + "/numa_node", node);
    write("bus/pci/devices/" + id + "/local_cpulist", list);
  }
  RankCores of(size_t rank, std::optional<int64_t> cores,
               const std::vector<std::vector<std::string>>& gpus = {{kA}, {kB}, {kC}}) {
    return cores_beside_gpus(gpus, rank, available, cores, sysfs_.path());
  }
  Cores available = from_to(0, 31);
  TemporaryFolder sysfs_;
};

TEST_F(GpuCores, RanksShareTheRowsCoresByNode) {
  EXPECT_EQ(of(0, 12).cpus, from_to(0, 3)) << "one of three GPUs";
  EXPECT_EQ(of(1, 12).cpus, from_to(8, 15));
  EXPECT_EQ(of(2, 12).cpus, from_to(8, 15)) << "shared, as the ranks of a machine with one node share all";
  for (size_t rank = 0; rank < 3; ++rank) EXPECT_TRUE(of(rank, 12).notes.empty());
  EXPECT_EQ(of(0, 13).cpus.size() + of(1, 13).cpus.size(), 13u) << "no core is lost by rounding";
  EXPECT_EQ(of(0, 1).cpus.size(), 1u);
  EXPECT_EQ(of(1, 1).cpus.size(), 1u);
}

TEST_F(GpuCores, OneGpuAtTheSecondSocketHasItsCores) {
  EXPECT_EQ(of(0, 4, {{kB}}).cpus, from_to(8, 11));
  available = from_to(10, 20);
  EXPECT_EQ(of(0, 4, {{kB}}).cpus, from_to(10, 13)) << "only those that the process may use";
}

TEST_F(GpuCores, AProcessWithSeveralGpusHasCoresBesideEach) {
  EXPECT_EQ(of(0, 6, {{kA, kB, kC}}).cpus, (Cores{0, 1, 8, 9, 10, 11}));
  EXPECT_EQ(of(0, 6, {{kA, kA}}).cpus, from_to(0, 5)) << "replicas that share a GPU";
}

TEST_F(GpuCores, WithoutANumberARankHasAllBesideItsGpus) {
  Cores first = from_to(0, 7);
  for (const int cpu : from_to(16, 23)) first.push_back(cpu);
  EXPECT_EQ(of(0, {}).cpus, first);
  EXPECT_TRUE(of(0, {}).notes.empty());
  EXPECT_EQ(of(0, {}, {{kA, kB}}).cpus, available);
}

TEST_F(GpuCores, MoreThanANodeHasAreTakenElsewhereWithANote) {
  const RankCores found = of(0, 20, {{kA}});
  EXPECT_EQ(found.cpus.size(), 20u) << "the number is what rows vary";
  for (const int cpu : {0, 7, 16, 23}) EXPECT_EQ(std::count(found.cpus.begin(), found.cpus.end(), cpu), 1);
  EXPECT_EQ(
      found.notes,
      (std::vector<std::string>{"cores: fewer than 20 are beside GPU 0000:17:00.0, so others were added"}));
  EXPECT_EQ(of(0, 100, {{kA}}).cpus, available);
}

TEST_F(GpuCores, WhereTheyAreUnknownTheFirstCoresStayWithANote) {
  const auto stays = [&](const std::string& id) {
    const RankCores found = of(0, 4, {{id}});
    EXPECT_EQ(found.cpus, Cores(available.begin(), available.begin() + 4)) << id;
    ASSERT_EQ(found.notes.size(), 1u);
    EXPECT_SAYS(found.notes[0], "cores: not those beside GPU " + id);
    EXPECT_SAYS(found.notes[0], "/local_cpulist is missing");
  };
  stays("0000:01:00.0");
  gpu("0000:01:00.0", "-1", "0-31");
  stays("0000:01:00.0");
  for (const char* list : {"", "many", "-", ",,", "40-50", "99999999999", "9-8"}) {
    gpu("0000:01:00.0", "0", list);
    stays("0000:01:00.0");
  }
  available = from_to(0, 7);
  stays(kB);
  EXPECT_EQ(of(0, {}, {{kB}}).cpus, available);
  EXPECT_EQ(of(1, 4, {{kB}, {kA}}).cpus, (Cores{1, 3})) << "the first rank keeps the first four";
}

TEST_F(GpuCores, OneNodeHasNoFarCores) {
  write("devices/system/node/online", "0");
  const RankCores found = of(0, 4, {{"0000:01:00.0"}});
  EXPECT_EQ(found.cpus, from_to(0, 3));
  EXPECT_TRUE(found.notes.empty());
}

TEST_F(GpuCores, TheNodeIsTold) {
  gpu("0000:01:00.0", "-1", "0-31");
  const auto node = [&](const std::string& id) { return numa_node_of(id, sysfs_.path()); };
  EXPECT_EQ(node(kB), 1);
  EXPECT_FALSE(node("0000:01:00.0"));
  EXPECT_FALSE(node("0000:02:00.0"));
}

TEST(Binding, HoldsForThreadsStartedLater) {
  const Cores before = base::available_cpus();
  std::thread([&] {
    bind_to({before.back()});
    Cores later;
    std::thread([&] { later = base::available_cpus(); }).join();
    EXPECT_EQ(later, Cores{before.back()});
    EXPECT_SAYS(failure_of([] { bind_to({}); }), "can't run on cores");
  }).join();
  EXPECT_EQ(base::available_cpus(), before);
}

}  // namespace bench::gpu_cores_test
