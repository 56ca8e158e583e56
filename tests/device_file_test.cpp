// unit: Device files of emulated accelerators: the shipped ones, and each fault with its file and line.
#include "harness/config/device_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "harness/base/file.h"
#include "harness/base/scratch.h"
#include "harness/config/config_error.h"
#include "tests/failure_of.h"

namespace harness::device_file_test {
namespace {

namespace fs = std::filesystem;

fs::path shipped() { return device_file(SOURCE_DIR, kDefaultDeviceFile); }

class DeviceFile : public testing::Test {
 protected:
  // The shipped file with one piece of text replaced.
  std::string refused(const std::string& from, const std::string& to) {
    std::string text = base::read_file(shipped());
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    const fs::path file = folder_.path() / "v100-article.yaml";
    std::ofstream(file) << text;
    return failure_of([&] { read_device_file(file); });
  }
  const base::Scratch folder_;
};

TEST_F(DeviceFile, TheArticlesDeviceHasItsFigures) {
  const EmulatedDevice device = read_device_file(shipped());
  EXPECT_EQ(device.model, "resnet18");
  const PrecisionCosts& costs = device.precisions.at("o0");
  // Row 0: 512 images, 161.0 s for 300 batches.
  const double copy_ms = 512 * 602112 / device.h2d_gb_per_s.value * 1e-6;
  const double step_ms = 512 * (costs.forward_ms_per_image.value + costs.backward_ms_per_image.value) +
                         costs.optimizer_ms.value + copy_ms;
  EXPECT_NEAR(step_ms * 300 / 1000, 161.0, 0.3);
  EXPECT_EQ(costs.optimizer_ms.provenance, "stated");
}

TEST_F(DeviceFile, FaultsAreNamedWithFileAndLine) {
  EXPECT_SAYS(refused("model: resnet18\n", ""), "yaml:1: missing key; expected 'model'");
  EXPECT_SAYS(refused("value: 900", "value: fast"), "is no number");
  EXPECT_SAYS(refused("value: 900", "value: nan"), "is no number");
  EXPECT_SAYS(refused("value: 900", "value: 0"), "a number above 0; found 0");
  EXPECT_SAYS(refused("value: 5,", "value: -5,"), "0 or more; found -5");
  EXPECT_SAYS(refused("provenance: published", "provenance: known"), "no provenance");
  EXPECT_SAYS(refused("launch_us:", "launch_ms:"), "launch_us");
  const std::string unknown = refused("memory_gib:", "color: {}\nmemory_gib:");
  EXPECT_NE(unknown.find("unknown key"), std::string::npos);
  EXPECT_NE(unknown.find("yaml:3"), std::string::npos) << unknown;
  EXPECT_SAYS(refused("name: v100-article", "name: other"), "the name is not the file's");
}

TEST_F(DeviceFile, AnotherNameIsAnsweredWithThoseThatExist) {
  const std::string text = failure_of([] { device_file(SOURCE_DIR, "v100-articel"); });
  EXPECT_NE(text.find("v100-article"), std::string::npos) << text;
}

}  // namespace
}  // namespace harness::device_file_test
