// unit: plans on a machine with GPUs, with a fake train_slice that reports some
#include "tests/support/failure_of.h"
#include "tests/support/program.h"

namespace harness::gpu_plan_test {

class GpuPlan : public Program {
 protected:
  std::string plan(int gpus, std::vector<std::string> more, int images = 1000, int code = 0) {
    more.insert(more.end(), {"--dry-run", "--out", directory / "run"});
    EXPECT_EQ(run(more, {{"FAKE_GPUS", std::to_string(gpus)}, {"FAKE_MEMORY", std::to_string(images)}}),
              code);
    return output() + errors();
  }
};

TEST_F(GpuPlan, TakesTheArticlesScaleWhereItsBatchesFit) {
  const std::string text = plan(4, {"--only", "0,1"}, 512);
  EXPECT_SAYS(text, "sizes of the article");
  EXPECT_FALSE(says("but batches"));
  plan(4, {"--only", "0,1", "--set", "batch=128"}, 200);
  EXPECT_FALSE(says("but batches")) << "128 images fit";
}

TEST_F(GpuPlan, DividesBatchesUntilTheyFitAndSaysSo) {
  const std::string text = plan(4, {"--only", "0,1"}, 200);
  EXPECT_SAYS(text, "article/4") << "512 images on one device, of which 200 fit";
  EXPECT_SAYS(text, "batches / 4: 128 images of row 0 are the most that fit");
  EXPECT_SAYS(plan(4, {"--only", "12", "--devices", "2"}, 200),
              "batches / 2: 128 images of row 12 are the most that fit");
}

TEST_F(GpuPlan, RefusesAGpuThatHoldsNothing) {
  EXPECT_SAYS(plan(1, {"--only", "1"}, 0, 2), "even the smallest batches of the rows don't fit");
}

TEST_F(GpuPlan, ATooSmallMachineSkipsRowsWithWhatIsMissing) {
  EXPECT_SAYS(plan(2, {"--only", "1,2,4,12"}), "it needs 4 GPUs, but this machine has 2");
  EXPECT_SAYS(plan(2, {"--only", "12", "--oversubscribe"}), "1 of 1 rows run");
  EXPECT_SAYS(plan(4, {"--only", "12"}), "backend: nccl");
}

TEST_F(GpuPlan, WhatOnlyAGpuCanDoIsSkippedElsewhere) {
  const std::string text = plan(1, {SOURCE_DIR "/configs/beyond.yaml", "--device", "cpu", "--scale", "smoke",
                                    "--only", "bf16,prefetch,nvjpeg"});
  EXPECT_SAYS(text, "prefetch=true, loss_every=50 need device cuda");
  EXPECT_SAYS(text,
              "prefetch=true, cuda_graphs=true, fused_batch_norm=true, byte_pool_indices=true, "
              "decoder=nvjpeg, loss_every=50 need device cuda, but "
              "this row runs on cpu");
}

TEST_F(GpuPlan, ALibraryThatTheBuildLacksIsNamed) {
  const std::vector<std::string> rows{
      SOURCE_DIR "/configs/beyond.yaml", "--scale", "smoke", "--only", "bf16,nvjpeg", "--dry-run"};
  run(rows, {{"FAKE_GPUS", "1"}, {"FAKE_MEMORY", "1000"}, {"FAKE_NVJPEG", "0"}});
  EXPECT_TRUE(says("SKIPPED: decoder nvjpeg: this build has no nvJPEG; install"));
  run(rows, {{"FAKE_GPUS", "1"}, {"FAKE_MEMORY", "1000"}});
  EXPECT_FALSE(says("nvJPEG"));
  std::vector<std::string> batched = rows;
  batched.insert(batched.end(), {"--set", "decoder=nvjpeg_batched"});
  run(batched, {{"FAKE_GPUS", "1"}, {"FAKE_MEMORY", "1000"}, {"FAKE_NVJPEG", "0"}});
  EXPECT_TRUE(says("SKIPPED: decoder nvjpeg_batched: this build has no nvJPEG"));
}

TEST_F(GpuPlan, FusedLayersNeedNhwcAndBatchNorm) {
  const auto refused = [&](const std::vector<std::string>& settings, const std::string& words) {
    std::vector<std::string> arguments{SOURCE_DIR "/configs/beyond.yaml", "--only", "nhwc"};
    for (const std::string& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
    EXPECT_SAYS(plan(4, arguments, 1000, 2), words);
  };
  refused({"fused_batch_norm=true", "channels_last=false"}, "fused_batch_norm has kernels for NHWC alone");
  refused({"byte_pool_indices=true", "channels_last=false"}, "byte_pool_indices has kernels for NHWC alone");
  refused({"fused_batch_norm=true", "width=12"}, "a width that is a multiple of 8");
  refused({"fused_batch_norm=true", "strategy=apex", "devices=4", "sync_bn=true"},
          "fused_batch_norm takes the statistics of one rank");
  refused({"fused_batch_norm=true", "precision=o3"}, "fused_batch_norm keeps its statistics in float32");
  EXPECT_SAYS(plan(1, {SOURCE_DIR "/configs/beyond.yaml", "--only", "nhwc", "--device", "cpu", "--scale",
                       "smoke", "--set", "fused_batch_norm=true"}),
              "fused_batch_norm=true needs device cuda");
}

TEST_F(GpuPlan, CombinationsThatCantBeAreRefused) {
  EXPECT_SAYS(plan(4, {"--only", "12", "--set", "cuda_graphs=true"}, 1000, 2),
              "record the step of one device");
  EXPECT_SAYS(
      plan(4, {"--only", "12", "--device", "cpu", "--scale", "smoke", "--set", "backend=nccl"}, 1000, 2),
      "backend nccl joins devices of another kind");
}

TEST_F(GpuPlan, RanksChooseTheirCoresAndTellWhatDiffers) {
  const std::string note = "cores: not those beside GPU 0000:01:00.0: a test";
  ASSERT_EQ(run({"--only", "0", "--device", "cuda", "--scale", "smoke", "--out", directory / "run"},
                {{"FAKE_GPUS", "1"}, {"FAKE_MEMORY", "1000"}, {"FAKE_NOTE", note}}),
            0);
  const fs::path rows = directory / "run";
  const nlohmann::json job = nlohmann::json::parse(content_of(rows / "rows/0-repeat0/job.json"));
  EXPECT_EQ(job["cores"], job["row"]["cpus"]);
  const nlohmann::json record = nlohmann::json::parse(content_of(rows / "records.jsonl"));
  EXPECT_EQ(record["notes"].back(), note);
  EXPECT_SAYS(content_of(rows / "table.md"), note);
}

// With a real train_slice the default is the GPU where there is one, and most tests are about rows on CPUs.
TEST(TestsThatRunRows, NameTheirDevice) {
  const std::string start = std::string("BINARY_DIR ") + "\"/run_matrix\"", device = "\"--device\"";
  int found = 0;
  for (const auto& entry : fs::recursive_directory_iterator(SOURCE_DIR "/tests")) {
    if (entry.path().extension() != ".cpp") continue;  // the headers start a fake train_slice
    const std::string text = content_of(entry.path());
    for (size_t at = text.find(start); at != text.npos; at = text.find(start, at + 1)) {
      ++found;
      EXPECT_LT(text.find(device, at), text.find(';', at))
          << entry.path().filename() << ", line "
          << std::count(text.begin(), text.begin() + long(at), '\n') + 1
          << ": add --device cpu, or cuda where the test is about GPUs";
    }
  }
  EXPECT_GT(found, 3);
}

}  // namespace harness::gpu_plan_test
