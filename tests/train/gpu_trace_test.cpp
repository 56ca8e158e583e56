// unit: how much of the traced time GPUs worked, however their work overlaps, and how often the host waited
#include "bench/train/gpu/gpu_trace.h"

#include <gtest/gtest.h>

namespace bench::gpu_trace_test {

TEST(Covered, CountsTimeOnce) {
  EXPECT_EQ(covered({}, 0, 100), 0);
  EXPECT_EQ(covered({{10, 20}, {30, 50}}, 0, 100), 30);
  EXPECT_EQ(covered({{30, 50}, {10, 40}}, 0, 100), 40) << "in any order";
  EXPECT_EQ(covered({{10, 90}, {20, 30}, {40, 50}}, 0, 100), 80) << "one inside another";
  EXPECT_EQ(covered({{10, 20}, {20, 30}, {10, 20}}, 0, 100), 20);
}

TEST(Covered, CutsAtTheEdges) {
  EXPECT_EQ(covered({{0, 60}, {90, 200}}, 50, 100), 20);
  EXPECT_EQ(covered({{0, 1000}}, 50, 100), 50);
  EXPECT_EQ(covered({{0, 40}, {110, 120}}, 50, 100), 0);
  EXPECT_EQ(covered({{60, 60}, {70, 65}}, 50, 100), 0) << "zero or negative length";
}

TEST(GpuTrace, SharesAreOfTheWholeTime) {
  GpuTrace trace;
  trace.work = {{0, /*copy=*/false, 100, 150}, {0, false, 140, 160}, {0, /*copy=*/true, 155, 180}};
  const harness::RankTrace record = summary(trace, {100, 190, 200, 2}).value();
  EXPECT_EQ(record.gpu_busy_share, 0.8);
  EXPECT_EQ(record.gpu_kernel_share, 0.6);
  EXPECT_EQ(record.gpu_copy_share, 0.25);
  EXPECT_EQ(record.host_waits_per_batch, 0.0);
}

TEST(GpuTrace, SeveralGpusGiveTheirMean) {
  GpuTrace trace;
  trace.work = {{0, false, 0, 100}, {3, false, 50, 100}};
  EXPECT_EQ(summary(trace, {0, 100, 100, 1})->gpu_busy_share, 0.75);
}

TEST(GpuTrace, WithoutWorkNothingWasRecorded) {
  GpuTrace trace;
  trace.calls = {{"cudaDeviceSynchronize", 10}};
  EXPECT_TRUE(!summary(trace, {0, 100, 100, 1}));
}

TEST(GpuTrace, CountsTheWaitsOfTheBatchesAlone) {
  GpuTrace trace;
  trace.work = {{0, false, 0, 100}};
  trace.calls = {{"cudaDeviceSynchronize", 5},  // before the window opened
                 {"cudaStreamSynchronize", 10}, {"cudaLaunchKernel", 20},
                 {"cudaEventSynchronize", 30},  {"cudaMemcpy", 40},
                 {"cudaMemcpyAsync", 50},       {"cudaDeviceSynchronize", 60},
                 {"cudaDeviceSynchronize", 90}};  // the trace's own call, after the last batch
  EXPECT_EQ(summary(trace, {10, 90, 100, 2})->host_waits_per_batch, 2.0);
}

TEST(GpuTrace, KnowsWhichCallsWait) {
  for (const char* name : {"cudaStreamSynchronize", "cudaStreamSynchronize_ptsz", "cudaDeviceSynchronize",
                           "cudaEventSynchronize", "cudaMemcpy", "cudaMemcpy_ptds", "cudaMemcpy2D",
                           "cudaMemcpyToSymbol", "cudaMemcpy_v3020", "cudaFree"})
    EXPECT_TRUE(waits(name)) << name;
  for (const char* name :
       {"cudaMemcpyAsync", "cudaMemcpyAsync_ptsz", "cudaMemcpy2DAsync_v3020", "cudaMemsetAsync",
        "cudaEventQuery", "cudaStreamWaitEvent", "cudaEventRecord", "cudaGraphLaunch", "cudaFreeAsync", ""})
    EXPECT_FALSE(waits(name)) << name;
}

}  // namespace bench::gpu_trace_test
