// gpu: GPU readings during training: the driver's figures and the profiler's events
#include <ATen/cuda/CUDAContext.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/profiler_kineto.h>
#include <torch/csrc/profiler/orchestration/observer.h>
#include <unistd.h>

#include <thread>

#include "bench/train/device/device.h"
#include "bench/train/kineto_events.h"

namespace bench::cuda_readings_test {

namespace profiler = torch::autograd::profiler;
using nlohmann::json;
using std::chrono::milliseconds;
using torch::profiler::impl::ActivityType;

class CudaReadings : public testing::Test {
 protected:
  void SetUp() override {
    gpu = DeviceRegistry::instance().find("cuda")({.row = {.image_px = 32}, .batch_size = 4});
  }
  static void work_for(milliseconds time) {
    const at::Tensor a = at::randn({4096, 4096}).cuda();
    for (const auto end = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < end;) {
      a.matmul(a);
      at::cuda::getCurrentCUDAStream().synchronize();
    }
  }
  std::unique_ptr<Device> gpu;
};

TEST_F(CudaReadings, ABusyGpuIsSeenToBeBusy) {
  const auto sampler = gpu->accelerator()->make_sampler(/*period_ms=*/20, /*replicas=*/1);
  if (!sampler) GTEST_SKIP() << "libnvidia-ml.so.1 is missing or not usable";
  sampler->start();
  work_for(milliseconds(2000));
  const json record = harness::encode(summary(sampler->stop(), 100));
  EXPECT_GT(record["samples"].get<int>(), 20) << record;
  // Values that a GPU doesn't provide are absent, which is not a failure.
  EXPECT_GT(record.value("/utilisation_percent/max"_json_pointer, 100.0), 50.0) << record;
  EXPECT_GT(record.value("/sm_clock_mhz/mean"_json_pointer, 1000.0), 100.0) << record;
  EXPECT_GT(record.value("/power_w/mean"_json_pointer, 100.0), 5.0) << record;
  EXPECT_GT(record.value("energy_j", 100.0), 10.0) << record;
  EXPECT_LE(record.value("throttled_share", 0.0), 1.0) << record;
}

// Figures that a GPU or its driver doesn't provide are absent, which is not a failure.
TEST_F(CudaReadings, TheGpuIsDescribed) {
  const auto sampler = gpu->accelerator()->make_sampler(/*period_ms=*/20, /*replicas=*/1);
  if (!sampler) GTEST_SKIP() << "libnvidia-ml.so.1 is missing or not usable";
  sampler->start();
  work_for(milliseconds(1000));
  const GpuReadings readings = sampler->stop();
  ASSERT_EQ(readings.devices.size(), 1u);
  const harness::GpuFacts& facts = readings.devices[0];
  EXPECT_FALSE(facts.driver.empty());
  EXPECT_LE(facts.figure("pcie_generation").value_or(0), facts.figure("pcie_max_generation").value_or(9));
  EXPECT_LE(facts.figure("pcie_width").value_or(0), facts.figure("pcie_max_width").value_or(99));
  for (const char* share : {"sm_active", "sm_occupancy", "tensor_active", "dram_active"})
    EXPECT_LE(facts.figure(share).value_or(0), 1.0) << share;
  EXPECT_GT(facts.figure("sm_active").value_or(1), 0.1) << "of counters, from Hopper on";
}

// Two recordings, as in a trace: the first is discarded.
TEST_F(CudaReadings, TheProfilerRecordsKernelsCopiesAndWaits) {
  const torch::profiler::impl::ProfilerConfig config(torch::profiler::impl::ProfilerState::KINETO);
  const std::set<ActivityType> activities = {ActivityType::CPU, ActivityType::CUDA};
  work_for(milliseconds(10));  // the first product loads libraries
  for (const bool kept : {false, true}) {
    profiler::prepareProfiler(config, activities);
    profiler::enableProfiler(config, activities, {at::RecordScope::FUNCTION});
    const at::Tensor a = at::randn({2048, 2048}).cuda();
    for (int product = 0; product < 5; ++product) a.matmul(a);
    at::cuda::getCurrentCUDAStream().synchronize();
    const GpuTrace trace = gpu_trace(*profiler::disableProfiler(), ::gettid());
    if (!kept) continue;
    ASSERT_FALSE(trace.work.empty()) << "the profiler recorded no GPU work";
    int64_t begin = INT64_MAX, end = 0, kernels = 0, copies = 0, waits_seen = 0;
    for (const GpuTrace::Work& work : trace.work) {
      begin = std::min(begin, work.begin_ns);
      end = std::max(end, work.end_ns);
      ++(work.copy ? copies : kernels);
    }
    for (const GpuTrace::Call& call : trace.calls) waits_seen += waits(call.name);
    EXPECT_GE(kernels, 5);
    EXPECT_GE(copies, 1) << "memsets count too, and libraries may add some";
    EXPECT_GE(waits_seen, 1) << "the stream was waited for";
    const json record = harness::encode(summary(trace, {begin, end, end, 1}).value());
    EXPECT_GT(record["gpu_kernel_share"].get<double>(), 0.1) << record;
    EXPECT_GT(record["gpu_copy_share"].get<double>(), 0.0) << record;
    EXPECT_LE(record["gpu_busy_share"].get<double>(), 1.0) << record;
  }
}

}  // namespace bench::cuda_readings_test
