// Shared by tests with several processes: they start their own program once per rank, with the same commands
// as a row's ranks.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/registry/registry.h"
#include "harness/base/listener.h"
#include "harness/base/scratch.h"
#include "harness/launch/launcher.h"
#include "tests/support/temporary_folder.h"

namespace bench {

namespace fs = std::filesystem;

// A test program with ranks has a TEST(DISABLED_Rank, ...) that reads these.
inline fs::path child_directory() { return std::getenv("TEST_DIRECTORY"); }
inline harness::Row child_row() {
  std::ifstream stream(child_directory() / "job.json");
  return harness::decode<harness::Row>(nlohmann::json::parse(stream));
}

class Ranks : public testing::Test {
 protected:
  void TearDown() override {
    if (HasFailure())
      for (const auto& file : fs::directory_iterator(directory))
        if (file.path().extension() == ".stderr") {
          std::ifstream stream(file.path());
          std::cerr << file.path().filename() << ": " << stream.rdbuf() << '\n';
        }
  }

  // Why this machine or build can't start ranks of that backend; empty when it can.
  static std::string missing(const std::string& backend) {
    for (const Value& value : registered_values())
      if (value.axis == "backend" && value.name == backend && !value.missing.empty()) return value.missing;
    return backend == "mpi" && !base::program_exists("mpirun") ? "no mpirun" : "";
  }

  harness::Outcome launch(const harness::Row& row, std::map<std::string, std::string> environment = {},
                          double silence_s = 60) {
    for (const auto& old : fs::directory_iterator(directory)) fs::remove_all(old.path());
    std::ofstream(directory / "job.json") << harness::to_json(row);
    const base::Listener listener(0, false);
    const base::Scratch scratch;
    harness::LaunchSetting setting;
    setting.directory = directory;
    setting.port = listener.port();
    setting.listen_fd = listener.fd();
    setting.scratch = scratch.path();
    harness::write_remote_shell(setting);
    harness::Installation installation;
    installation.train_slice = fs::read_symlink("/proc/self/exe");
    harness::Request request;
    request.launcher = "local";
    harness::Launch launch = rank_commands(row, axis_values(), installation, request, setting);
    environment.insert({{"TEST_DIRECTORY", directory},
                        {"GTEST_FILTER", "DISABLED_Rank.*"},
                        {"GTEST_ALSO_RUN_DISABLED_TESTS", "1"}});
    for (base::Command& command : launch.commands) command.environment.merge(std::map(environment));
    harness::Progress progress(directory / "progress", int(world_size(row, axis_values())));
    return harness::run_ranks(launch, progress, {120, 60, silence_s}, directory, [] {});
  }

  nlohmann::json result() const {
    std::ifstream stream(directory / "result.json");
    return nlohmann::json::parse(stream);
  }

  const TemporaryFolder folder;
  const fs::path directory = folder;
};

}  // namespace bench
