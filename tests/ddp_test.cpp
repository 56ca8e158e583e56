// net: ddp over Gloo with real processes: gradients, losses and final weights against one device; a rank that
// dies.
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "bench/rank_report.h"
#include "harness/launcher.h"
#include "tests/training_setup.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

// One fixed batch for all ranks together; each rank hands out its own part of it, again and again.
class ShardLoader : public Loader {
 public:
  ShardLoader(const harness::Row& row, const RankInfo& rank) : share_(row.batch / rank.world_size) {
    at::manual_seed(11);
    images_ = at::randn({row.batch, 3, row.image_px, row.image_px})
                  .narrow(0, rank.rank * share_, share_)
                  .contiguous();
    labels_ =
        at::randint(row.classes, {row.batch}, at::kLong).narrow(0, rank.rank * share_, share_).contiguous();
  }
  void start() override {}
  Batch next() override {
    Batch batch;
    batch.images = images_.const_data_ptr<float>();
    batch.labels = labels_.const_data_ptr<int64_t>();
    batch.size = share_;
    return batch;
  }
  void release(const Batch&) override {}
  int ready_batches() const override { return 1; }
  LoaderStats stats() const override { return {}; }

 private:
  int64_t share_;
  at::Tensor images_, labels_;
};

harness::Row row_of(int64_t ranks, const std::string& precision) {
  harness::Row row = tiny_row(ranks > 1 ? "ddp" : "single", ranks, precision);
  row.backend = ranks > 1 ? "gloo" : "none";
  row.batch = 12;  // equal counts for 1, 2, 3 and 4 ranks
  row.bucket_mib = 0.05;
  row.first_bucket_mib = 0.01;
  return row;
}

// Batch norm frozen, because the shares' own batch statistics differ from the whole batch's by design.
nlohmann::json train(const harness::Row& row, const RankInfo& rank) {
  TinyRank parts_of(row, rank);
  ShardLoader loader(row, rank);
  const SliceParts parts{
      parts_of.row,       loader,          *parts_of.device, *parts_of.model, *parts_of.precision,
      *parts_of.strategy, *parts_of.group, parts_of.slot};
  const Check gradients = check_gradients(parts, rank);
  parts.strategy.use_batch_statistics(false);
  const SliceResult result = run_slice(parts);
  const auto reports = parts_of.group->gather(
      rank_report(parts, rank, result, {{"encoded_bytes", 0}, {"device_bytes", nullptr}}, {gradients})
          .dump());
  return rank.rank == 0 ? merge_reports(row, reports) : nlohmann::json();
}

// Not a test of its own: what each process of the tests below runs.
TEST(DISABLED_Child, Trains) {
  const RankInfo rank = rank_from_environment();
  if (std::getenv("DDP_TEST_DIE") && rank.rank == 1) ::raise(SIGKILL);
  const auto merged = train(row_of(rank.world_size, std::getenv("DDP_TEST_PRECISION")), rank);
  if (rank.rank == 0) std::ofstream(std::getenv("DDP_TEST_RESULT")) << merged;
}

class DdpOn : public testing::TestWithParam<std::tuple<int, std::string>> {
 protected:
  void SetUp() override {
    directory = fs::temp_directory_path() / ("ddp_test_" + std::to_string(::getpid()));
    fs::create_directories(directory);
    listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
    ASSERT_EQ(::listen(listener, 16), 0);
    ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    port = ntohs(address.sin_port);
  }
  void TearDown() override {
    ::close(listener);
    fs::remove_all(directory);
  }

  harness::Outcome launch(int ranks, std::map<std::string, std::string> environment) {
    std::vector<harness::Command> commands;
    environment["DDP_TEST_RESULT"] = directory / "result.json";
    environment["WORLD_SIZE"] = std::to_string(ranks);
    environment["MASTER_PORT"] = std::to_string(port);
    for (int rank = 0; rank < ranks; ++rank) {
      harness::Command command;
      command.arguments = {fs::read_symlink("/proc/self/exe"), "--gtest_also_run_disabled_tests",
                           "--gtest_filter=DISABLED_Child.*"};
      command.environment = environment;
      command.environment["RANK"] = std::to_string(rank);
      if (rank == 0) {
        command.environment["MASTER_LISTEN_FD"] = std::to_string(listener);
        command.passed_fd = listener;
      }
      command.output = directory / ("out" + std::to_string(rank));
      command.errors = directory / ("err" + std::to_string(rank));
      commands.push_back(command);
    }
    harness::Progress progress(directory / "progress", ranks);
    return harness::run_ranks(commands, progress, {60, 60, 60}, directory, [] {});
  }

  fs::path directory;
  int listener = -1, port = 0;
};

TEST_P(DdpOn, EqualsOneDeviceOnTheWholeBatch) {
  const auto [ranks, precision] = GetParam();
  const auto outcome = launch(ranks, {{"DDP_TEST_PRECISION", precision}});
  ASSERT_EQ(outcome.status, "OK") << outcome.reason;
  std::ifstream stream(directory / "result.json");
  const auto result = nlohmann::json::parse(stream);
  for (const auto& check : result["checks"]) EXPECT_TRUE(check["ok"].get<bool>()) << check;
  EXPECT_EQ(result["samples_ms"]["sync"].size(), size_t(ranks));
  EXPECT_GT(result["strategy"]["buckets"].size(), precision == "o3" ? 0u : 1u)
      << "buckets of 0.05 MiB split the model";

  at::set_num_threads(1);
  const auto alone = train(row_of(1, precision), {});
  const double tolerance = precision == "o0" ? 1e-3 : 0.1;
  for (size_t batch = 0; batch < alone["loss"].size(); ++batch)
    EXPECT_NEAR(result["loss"][batch].get<double>(), alone["loss"][batch].get<double>(),
                tolerance * alone["loss"][batch].get<double>())
        << "batch " << batch;
}

INSTANTIATE_TEST_SUITE_P(Ranks, DdpOn,
                         testing::Values(std::tuple{2, "o0"}, std::tuple{3, "o0"}, std::tuple{4, "o0"},
                                         std::tuple{2, "o1"}, std::tuple{2, "o2"}));

class DdpFault : public DdpOn {};

TEST_P(DdpFault, ARankThatDiesEndsTheRowAndLeavesNoProcess) {
  const auto outcome = launch(2, {{"DDP_TEST_PRECISION", "o0"}, {"DDP_TEST_DIE", "1"}});
  EXPECT_EQ(outcome.status, "CRASHED");
  EXPECT_NE(outcome.reason.find("rank 1"), std::string::npos) << outcome.reason;
  EXPECT_NE(outcome.reason.find("signal 9"), std::string::npos) << outcome.reason;
}

INSTANTIATE_TEST_SUITE_P(Once, DdpFault, testing::Values(std::tuple{2, "o0"}));

}  // namespace
}  // namespace bench
