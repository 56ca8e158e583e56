// unit: records from traces of torch.profiler with known times, a device file from them, and what is refused.
#include <zlib.h>

#include "tests/support/failure_of.h"
#include "tests/support/program.h"

namespace harness::import_test {

constexpr int kHost = 11, kBackwardThread = 12, kStream = 7;

// A trace of a rank whose steps of 10 ms have 2 ms in the loader, 3 of forward, 4 of backward, and 1 of the
// optimizer. Its GPU works 1, 2.5, and 0.5 ms for the last three, and 0.4 ms for a copy of 4 MB.
class Trace {
 public:
  explicit Trace(int rank = 0, int world = 1) {
    object = {{"schemaVersion", 1},
              {"deviceProperties", {{{"id", 0}, {"name", "GPU X"}, {"totalGlobalMem", 4294967296}}}},
              {"baseTimeNanoseconds", 0}};
    if (world > 1) object["distributedInfo"] = {{"rank", rank}, {"world_size", world}};
  }
  Trace& steps(int count) {
    for (int i = 0; i < count; ++i) step(i, 1e6 + 10e3 * i);
    return *this;
  }
  void step(int number, double at) {
    range("user_annotation", "ProfilerStep#" + std::to_string(number), kHost, at, 10e3);
    range("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", kHost, at, 2e3);
    copy(at + 2000, at + 2100);
    range("cpu_op", "aten::conv2d", kHost, at + 2200, 500, {{"Input Dims", {{32, 3, 8, 8}, {4, 3, 3, 3}}}});
    kernel("conv", at + 2300, at + 2500, 1000);
    range("cpu_op", "autograd::engine::evaluate_function: B", kBackwardThread, at + 5000, 1500);
    range("cpu_op", "aten::convolution_backward", kBackwardThread, at + 5000, 1000);
    kernel("conv_backward", at + 5100, at + 5500, 2500);
    range("cpu_op", "autograd::engine::evaluate_function: A", kBackwardThread, at + 6600, 2400);
    range("user_annotation", "Optimizer.step#SGD.step", kHost, at + 9000, 1000);
    kernel("sgd", at + 9100, at + 9300, 500);
  }
  void range(const char* category, const std::string& name, int thread, double at, double length,
             json arguments = json::object()) {
    object["traceEvents"].push_back({{"ph", "X"},
                                     {"cat", category},
                                     {"name", name},
                                     {"pid", 1},
                                     {"tid", thread},
                                     {"ts", at},
                                     {"dur", length},
                                     {"args", std::move(arguments)}});
  }
  json object;

 private:
  void kernel(const char* name, double called, double at, double length) {
    range("cuda_runtime", "cudaLaunchKernel", kHost, called, 5, {{"correlation", ++correlation_}});
    range("kernel", name, kStream, at, length, {{"correlation", correlation_}});
  }
  void copy(double called, double at) {
    range("cuda_runtime", "cudaMemcpyAsync", kHost, called, 0, {{"correlation", ++correlation_}});
    range("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", kStream, at, 400,
          {{"correlation", correlation_}, {"bytes", 4'000'000}});
  }
  int correlation_ = 0;
};

class Import : public Program {
 protected:
  fs::path write(const json& trace, const std::string& name = "trace.json") {
    fs::create_directories((directory / name).parent_path());
    std::ofstream(directory / name) << trace.dump();
    return directory / name;
  }
  int import(const std::vector<fs::path>& files, const std::vector<std::string>& options = {}) {
    std::vector<std::string> words = {"import", "--out", directory / "run"};
    words.insert(words.end(), files.begin(), files.end());
    words.insert(words.end(), options.begin(), options.end());
    return run(words);
  }
  static double mean(const json& samples) {
    double sum = 0;
    for (const json& value : samples) sum += value.get<double>();
    return sum / double(samples.size());
  }
};

TEST_F(Import, PhasesAndDeviceTimesAreThoseOfTheTrace) {
  ASSERT_EQ(import({write(Trace().steps(4).object)}), 0);
  const json record = records_in("run").at(0);
  EXPECT_EQ(record["status"], "OK");
  EXPECT_EQ(record["device"]["name"], "GPU X");
  EXPECT_NEAR(record["images_per_second"].get<double>(), 32 / 10e-3, 1e-6);
  const std::map<std::string, double> host{{"load", 2}, {"forward", 3}, {"backward", 4},
                                           {"step", 1}, {"other", 0},   {"sync", 0}};
  for (const auto& [phase, ms] : host) EXPECT_NEAR(mean(record["samples_ms"][phase][0]), ms, 1e-6) << phase;
  const std::map<std::string, double> device{{"forward", 1}, {"backward", 2.5}, {"step", 0.5}, {"h2d", 0.4}};
  EXPECT_EQ(record["device_ms"].size(), device.size());
  for (const auto& [phase, ms] : device) EXPECT_NEAR(mean(record["device_ms"][phase][0]), ms, 1e-6) << phase;
  EXPECT_TRUE(says("GPUs busy in 44.0 % of the steps' time"));
  EXPECT_TRUE(says("1 of 1 rows ran on GPU X\n"));
}

TEST_F(Import, ATraceWithoutAGpuNamesNoDevice) {
  json trace = Trace().steps(4).object;
  trace["deviceProperties"] = json::array();
  auto& events = trace["traceEvents"];
  events.erase(
      std::remove_if(events.begin(), events.end(),
                     [](const json& it) { return it["cat"] == "kernel" || it["cat"] == "gpu_memcpy"; }),
      events.end());
  ASSERT_EQ(import({write(trace)}), 0);
  EXPECT_FALSE(records_in("run").at(0)["device"].contains("name"));
  EXPECT_TRUE(says("a machine that the trace doesn't name: 1 of 1 rows ran\n")) << output();
  EXPECT_FALSE(says("on this processor"));
}

TEST_F(Import, ADeviceFileIsCalibratedFromIt) {
  ASSERT_EQ(import({write(Trace().steps(4).object)}, {"--model", "net", "--precision", "o1"}), 0);
  ASSERT_EQ(run({"calibrate", directory / "run", "--out", directory / "mine.yaml"}), 0);
  const std::string file = content_of(directory / "mine.yaml");
  for (const char* figure :
       {"net", "o1", "forward_ms_per_image: {value: 0.03125, provenance: measured",
        "optimizer_ms: {value: 0.5, provenance: measured", "h2d_gb_per_s: {value: 10, provenance: measured",
        "memory_gib: {value: 4, provenance: measured"})
    EXPECT_SAYS(file, figure);
}

TEST_F(Import, StepsWithoutMarksLieBetweenTwoBatches) {
  json trace = Trace().steps(4).object;
  auto& events = trace["traceEvents"];
  const auto is_step = [](const json& event) {
    return event["name"].get<std::string>().starts_with("ProfilerStep#");
  };
  events.erase(std::remove_if(events.begin(), events.end(), is_step), events.end());
  ASSERT_EQ(import({write(trace)}), 0);
  EXPECT_EQ(records_in("run").at(0)["timed_batches"], 3) << "nothing tells where the last one ends";
}

TEST_F(Import, StepsWithoutABackwardPassAreLeftOutAndCounted) {
  Trace trace;
  trace.steps(3);
  trace.range("user_annotation", "ProfilerStep#3", kHost, 1e6 + 30e3, 50e3);
  ASSERT_EQ(import({write(trace.object)}), 0);
  const json record = records_in("run").at(0);
  EXPECT_EQ(record["timed_batches"], 3);
  EXPECT_EQ(record["job"]["excluded"], 1);
}

TEST_F(Import, RanksOfAFolderAreOneJob) {
  for (int rank : {0, 1})
    write(Trace(rank, 2).steps(3).object, "traces/rank" + std::to_string(rank) + ".pt.trace.json");
  ASSERT_EQ(import({directory / "traces"}), 0);
  const json record = records_in("run").at(0);
  EXPECT_EQ(record["world_size"], 2);
  EXPECT_NEAR(record["images_per_second"].get<double>(), 2 * 32 / 10e-3, 1e-6);
  EXPECT_EQ(record["device_ms"]["forward"].size(), 2u);
}

TEST_F(Import, CompressedTracesAreRead) {
  const std::string text = Trace().steps(3).object.dump(), file = directory / "trace.json.gz";
  gzFile out = ::gzopen(file.c_str(), "wb");
  ::gzwrite(out, text.data(), unsigned(text.size()));
  ::gzclose(out);
  EXPECT_EQ(import({file}), 0);
  fs::resize_file(file, fs::file_size(file) / 2);
  fs::remove_all(directory / "run");
  EXPECT_EQ(import({file}), 2);
  EXPECT_TRUE(says("trace.json.gz: not a trace of torch.profiler"));
  EXPECT_TRUE(says("cut off"));
}

TEST_F(Import, WhatIsNoTraceIsRefusedAndSaysWhy) {
  const std::string whole = Trace().steps(3).object.dump();
  json no_batch = Trace().steps(3).object, untimed = no_batch, no_backward = no_batch;
  for (json& event : no_batch["traceEvents"]) event["args"].erase("Input Dims");
  for (json& event : untimed["traceEvents"]) event.erase("ts");
  for (json& event : no_backward["traceEvents"])
    if (event["name"].get<std::string>().starts_with("autograd")) event["name"] = "aten::mm";
  const std::vector<std::pair<std::string, const char*>> cases = {
      {whole.substr(0, whole.size() / 2), "not complete JSON"},
      {"[1, 2]", "not complete JSON"},
      {"", "not complete JSON; name a whole file (.json or .json.gz) of its export_chrome_trace()"},
      {"{}", "no list `traceEvents`"},
      {R"({"traceEvents": 3})", "no list `traceEvents`"},
      {R"({"traceEvents": [1, {"ph": 5}]})", "`traceEvents.ph`"},
      {std::string(200, '['), "nested too deep"},
      {untimed.dump(), "no list `traceEvents` of ranges with times"},
      {no_backward.dump(), "none of its steps has a backward pass"},
      {no_batch.dump(), "name it with --batch"},
  };
  for (const auto& [content, why] : cases) {
    std::ofstream(directory / "trace.json") << content;
    EXPECT_EQ(import({directory / "trace.json"}), 2) << content.substr(0, 80);
    EXPECT_TRUE(says("trace.json: "));
    EXPECT_TRUE(says(why));
    EXPECT_FALSE(fs::exists(directory / "run"));
  }
  const fs::path good = write(Trace().steps(3).object);
  EXPECT_EQ(import({good}, {"--batch", "99999999999999"}), 2);
  EXPECT_TRUE(says("--batch: expected a batch from 1 to 1048576 images, found 99999999999999"));
  json huge = Trace().steps(3).object;
  for (json& event : huge["traceEvents"])
    if (event["args"].contains("Input Dims")) event["args"]["Input Dims"][0][0] = int64_t{1} << 40;
  EXPECT_EQ(import({write(huge)}), 2);
  EXPECT_TRUE(says("trace.json: expected a batch from 1 to 1048576 images"));
  EXPECT_EQ(import({directory / "none.json"}), 2);
  EXPECT_TRUE(says("no such file or folder"));
}

TEST_F(Import, RanksOfDifferentRunsAreRefused) {
  const fs::path a = write(Trace(0, 2).steps(3).object, "a.json");
  EXPECT_EQ(import({a, write(Trace(0, 2).steps(3).object, "b.json")}), 2);
  EXPECT_TRUE(says("are both of rank 0"));
  EXPECT_EQ(import({a, write(Trace(1, 2).steps(4).object, "b.json")}), 2);
  EXPECT_TRUE(says("import one run's traces at a time"));
}

}  // namespace harness::import_test
