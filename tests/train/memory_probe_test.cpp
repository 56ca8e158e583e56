// train: --probe-memory: what fits into an emulated device's memory and into a limited process.
#include <gtest/gtest.h>

#include "harness/base/child_process.h"
#include "harness/config/device_file.h"
#include "harness/contract/job.h"
#include "harness/plan/probe.h"
#include "tests/support/temporary_folder.h"

namespace harness::memory_probe_test {

class MemoryProbe : public testing::Test {
 protected:
  bool fits(int64_t images) {
    job_.row.batch = images;
    Installation installation;
    installation.train_slice = BINARY_DIR "/train_slice";
    return probe_memory(installation, job_, folder_.path());
  }
  const TemporaryFolder folder_;
  Job job_;
};

TEST_F(MemoryProbe, AnEmulatedDeviceHoldsWhatItsFileSays) {
  job_.row.device = "emulated";
  const auto device = read_device_file(device_file(SOURCE_DIR, kDefaultDeviceFile));
  job_.emulation = Emulation{device, 1, 1e-6};
  job_.row.image_px = 224;
  EXPECT_TRUE(fits(512)) << "the article trained 512 images on one V100";
  EXPECT_FALSE(fits(1024));
  job_.row.precision = "o2";
  EXPECT_TRUE(fits(1024)) << "half the bytes";
}

TEST_F(MemoryProbe, AProcessOnTheProcessorStaysBelowItsCap) {
  job_.row.device = "cpu";
  job_.row.image_px = 64;
  job_.row.width = 16;
  job_.memory_cap_bytes = int64_t(1) << 30;
  EXPECT_TRUE(fits(16));
  EXPECT_FALSE(fits(4096)) << "of 1.5 MB each";
}

}  // namespace harness::memory_probe_test
