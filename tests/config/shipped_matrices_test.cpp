// train: every matrix in configs/ can be planned on this machine's processor, and most on emulated devices.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "harness/base/child_process.h"

namespace shipped_matrices_test {

namespace fs = std::filesystem;

void expect_plan(const fs::path& matrix, const std::string& device, const std::string& scale) {
  const base::Command command{
      {BINARY_DIR "/run_matrix", matrix, "--dry-run", "--device", device, "--scale", scale}, {}, {}, {}, {}};
  const base::Finished finished = base::run_to_end(command);
  EXPECT_EQ(finished.exit_code, 0) << base::shell_line(command);
  EXPECT_NE(finished.output.find(" rows run"), std::string::npos) << finished.output;
}

std::vector<fs::path> matrices_but(const std::set<std::string>& left_out) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(SOURCE_DIR "/configs"))
    if (entry.path().extension() == ".yaml" && !left_out.count(entry.path().stem()))
      files.push_back(entry.path());
  return files;
}
std::string name_of(const testing::TestParamInfo<fs::path>& info) { return info.param.stem(); }

class OnTheProcessor : public testing::TestWithParam<fs::path> {};
TEST_P(OnTheProcessor, IsPlanned) { expect_plan(GetParam(), "cpu", "smoke"); }
INSTANTIATE_TEST_SUITE_P(Matrices, OnTheProcessor, testing::ValuesIn(matrices_but({"scales"})), name_of);

// Left out, because emulated devices compute nothing (accuracy, twin), have no CUDA graphs (beyond) and no
// host work (bottlenecks).
class OnEmulatedDevices : public testing::TestWithParam<fs::path> {};
TEST_P(OnEmulatedDevices, IsPlanned) { expect_plan(GetParam(), "emulated", "auto"); }
INSTANTIATE_TEST_SUITE_P(
    Matrices, OnEmulatedDevices,
    testing::ValuesIn(matrices_but({"scales", "accuracy", "beyond", "bottlenecks", "twin"})), name_of);

}  // namespace shipped_matrices_test
