// unit: the batches that --trace selects, and merging of the ranks' files, also damaged or missing ones.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/plan/instruments.h"
#include "harness/run/trace_merge.h"
#include "tests/support/failure_of.h"
#include "tests/support/temporary_folder.h"

namespace harness::trace_test {

using nlohmann::json;

std::string batches_of(const std::string& trace, int64_t timed) {
  Request request;
  request.trace = trace;
  Row row;
  row.id = "7";
  row.timed_batches = timed;
  const auto batches = traced_batches(request, row);
  return batches ? std::to_string(batches->first) + "-" + std::to_string(batches->last) : "none";
}

TEST(TracedBatches, AreTheMiddleOrTheRange) {
  EXPECT_EQ(batches_of("", 300), "none");
  EXPECT_EQ(batches_of("middle", 300), "149-151");
  EXPECT_EQ(batches_of("middle", 6), "2-4");
  EXPECT_EQ(batches_of("middle", 3), "0-2");
  EXPECT_EQ(batches_of("middle", 1), "0-0");
  EXPECT_EQ(batches_of("0-299", 300), "0-299");
  EXPECT_EQ(batches_of("5", 6), "5-5");
}

TEST(TracedBatches, OutsideTheWindowAreRefused) {
  for (const char* text : {"0-6", "6", "4-3"}) {
    const std::string why = failure_of([&] { batches_of(text, 6); });
    EXPECT_NE(why.find("row 7"), std::string::npos) << text << ": " << why;
    EXPECT_NE(why.find("0-5"), std::string::npos) << text << ": " << why;
  }
  for (const char* text :
       {"-1", "x", "1-", "1-2-3", "1,2", "configs/formats.yaml", "1e3", "99999999999999999999"})
    EXPECT_NE(failure_of([&] { batches_of(text, 6); }), "") << text;
}

TEST(GpusOfATrace, AreDescribedInOneLine) {
  RecordTrace trace;
  EXPECT_EQ(describe_gpus(trace), "");
  trace.ranks = {{0, 0.8, 0.75, 0.1, 2}, {1, 0.9, 0.85, 0.2, 3}};
  EXPECT_EQ(
      describe_gpus(trace),
      "GPU busy in 85.0 % of the traced time (kernels 80.0 %, copies 15.0 %); the host waited for it 2.5 "
      "times a batch");
}

// Two ranks' files as the ranks write them; Kineto's base and the clocks' beginnings differ on purpose.
class MergeTraces : public testing::Test {
 protected:
  void SetUp() override {
    // Rank 0's batch begins 5.000 ms after the second 1700000000, rank 1's 1 ms later.
    write("rank-0.timeline.json", timeline(0, 1'700'000'000'000'000'000, 5'000'000));
    write("rank-1.timeline.json", timeline(1, 1'699'999'999'000'000'000, 1'006'000'000));
    write("rank-0.kineto.json", kineto(4711, 1'700'000'000'000'000'000, 5100.5));
    write("rank-1.kineto.json", kineto(4712, 1'690'000'000'000'000'000, 1e13 + 6100.25));
  }
  void write(const std::string& name, const json& object) { std::ofstream(directory / name) << object; }

  static json timeline(int rank, int64_t clock_began_ns, int64_t begin_ns) {
    const auto event = [&](const char* track, const char* name, double begin_ms, double end_ms) {
      return json{
          {"rank", rank}, {"track", track}, {"name", name}, {"begin_ms", begin_ms}, {"end_ms", end_ms}};
    };
    return {{"rank", rank},
            {"host", "node"},
            {"clock_began_ns", clock_began_ns},
            {"batches",
             {{{"batch", 2},
               {"begin_ns", begin_ns},
               {"spans_ms", {{"decode", 7.5}}},
               {"events",
                {event("host", "load", 0, 1), event("host", "backward", 1, 4),
                 event("collectives", "all_reduce", 1.5, 3), event("collectives", "all_reduce", 2, 4)}}}}}};
  }
  static json kineto(int pid, int64_t base_ns, double ts) {
    const auto arrow = [&](const char* ph) {
      return json{{"ph", ph},   {"id", 3},    {"cat", "fwdbwd"}, {"name", "fwdbwd"},
                  {"pid", pid}, {"tid", pid}, {"ts", ts}};
    };
    return {
        {"baseTimeNanoseconds", base_ns},
        {"traceEvents",
         {{{"ph", "X"},
           {"cat", "cpu_op"},
           {"name", "aten::mm"},
           {"pid", pid},
           {"tid", pid},
           {"ts", ts},
           {"dur", 2.5}},
          {{"ph", "X"},
           {"cat", "kernel"},
           {"name", "gemm"},
           {"pid", 0},
           {"tid", 7},
           {"ts", ts},
           {"dur", 1.5}},
          {{"ph", "X"},
           {"cat", "gpu_memcpy"},
           {"name", "Memcpy HtoD"},
           {"pid", 0},
           {"tid", 20},
           {"ts", ts},
           {"dur", 0.5}},
          {{"ph", "X"},
           {"cat", "cuda_runtime"},
           {"name", "cudaLaunchKernel"},
           {"pid", pid},
           {"tid", pid},
           {"ts", ts},
           {"dur", 0.25}},
          {{"ph", "X"},
           {"cat", "overhead"},
           {"name", "Activity Buffer Request"},
           {"pid", -1},
           {"tid", 0},
           {"ts", ts},
           {"dur", 0.25}},
          {{"ph", "M"}, {"name", "process_labels"}, {"pid", 0}, {"args", {{"labels", "GPU 0"}}}},
          {{"ph", "M"}, {"name", "thread_name"}, {"pid", 0}, {"tid", 7}, {"args", {{"name", "stream 7 "}}}},
          arrow("s"),
          arrow("f"),
          {{"ph", "M"}, {"name", "process_name"}, {"pid", pid}, {"args", {{"name", "train_slice"}}}},
          {{"ph", "M"}, {"name", "thread_name"}, {"pid", pid}, {"tid", pid}, {"args", {{"name", "main"}}}},
          {{"ph", "X"},
           {"cat", "Trace"},
           {"name", "PyTorch Profiler (0)"},
           {"pid", "Spans"},
           {"tid", "x"},
           {"ts", ts},
           {"dur", 1}},
          {{"ph", "i"}, {"name", "Record Window End"}, {"pid", ""}, {"tid", ""}, {"ts", ts}}}}};
  }

  std::vector<json> merged_events(int64_t ranks = 2) {
    merged = merge_traces(directory, ranks);
    std::ifstream stream(merged.file);
    return json::parse(stream).at("traceEvents");
  }
  static std::vector<json> find(const std::vector<json>& events, const std::string& name, int64_t pid) {
    std::vector<json> found;
    for (const json& event : events)
      if (event.at("name") == name && event.at("pid") == pid) found.push_back(event);
    return found;
  }
  const TemporaryFolder directory;
  MergedTrace merged;
};

TEST_F(MergeTraces, PutsEveryRankOnOneTimeBase) {
  const auto events = merged_events();
  EXPECT_TRUE(merged.warnings.empty());
  for (int rank : {0, 1}) {
    const double later = 1000.0 * rank;
    EXPECT_EQ(find(events, "process_name", rank).at(0)["args"]["name"],
              "rank " + std::to_string(rank) + " (node)");
    ASSERT_EQ(find(events, "batch 2", rank).size(), 1u);
    const json batch = find(events, "batch 2", rank)[0];
    EXPECT_NEAR(batch["ts"].get<double>(), later, 0.01);
    EXPECT_NEAR(batch["dur"].get<double>(), 4000, 0.01);
    EXPECT_EQ(batch["args"]["decode"], 7.5);
    EXPECT_NEAR(find(events, "backward", rank).at(0)["ts"].get<double>(), later + 1000, 0.01);
    EXPECT_NEAR(find(events, "aten::mm", rank).at(0)["ts"].get<double>(), later + 100.5, 0.5);
    EXPECT_EQ(find(events, "aten::mm", rank).at(0)["dur"], 2.5);
  }
}

TEST_F(MergeTraces, KeepsWhatOverlapsAndWhatBelongsTogetherApart) {
  const auto events = merged_events();
  std::map<int64_t, std::vector<std::string>> ends;  // by id
  for (int rank : {0, 1})
    for (const json& event : find(events, "all_reduce", rank))
      ends[event.at("id").get<int64_t>()].push_back(event.at("ph"));
  EXPECT_EQ(ends.size(), 4u) << "two of each rank";
  for (const auto& [id, phs] : ends) EXPECT_EQ(phs, (std::vector<std::string>{"b", "e"}));
  EXPECT_NE(find(events, "fwdbwd", 0).at(0)["id"], find(events, "fwdbwd", 1).at(0)["id"]);
  std::set<int64_t> devices;
  for (const json& event : events) {
    EXPECT_TRUE(event.at("pid").is_number()) << "the profiler's own: " << event;
    if (event.at("name") == "gemm") devices.insert(event["pid"].get<int64_t>());
  }
  EXPECT_EQ(devices.size(), 2u) << "rank 0's device 0 is another than rank 1's";
  EXPECT_EQ(devices.count(0), 0u) << "and is not a rank";
}

TEST_F(MergeTraces, AGpuIsAProcessOfItsRankAndAStreamAThread) {
  const auto events = merged_events();
  const auto process_of = [&](const std::string& name) {
    for (const json& event : events)
      if (event.at("name") == "process_name" && event["args"]["name"] == name)
        return event["pid"].get<int64_t>();
    return int64_t(-1);
  };
  for (int rank : {0, 1}) {
    const int64_t gpu = process_of("rank " + std::to_string(rank) + ": GPU 0");
    ASSERT_EQ(find(events, "gemm", gpu).size(), 1u) << "rank " << rank;
    EXPECT_EQ(find(events, "gemm", gpu)[0]["tid"], 7);
    EXPECT_NEAR(find(events, "gemm", gpu)[0]["ts"].get<double>(), 1000.0 * rank + 100.5, 0.5);
    EXPECT_EQ(find(events, "Memcpy HtoD", gpu).at(0)["tid"], 20);
    EXPECT_EQ(find(events, "thread_name", gpu).at(0)["args"]["name"], "stream 7 ");
    EXPECT_EQ(find(events, "process_name", gpu).size(), 1u);
    EXPECT_EQ(find(events, "cudaLaunchKernel", rank).size(), 1u) << "the host's call lies in the rank";
    const int64_t profiler = process_of("rank " + std::to_string(rank) + ": profiler");
    EXPECT_EQ(find(events, "Activity Buffer Request", profiler).size(), 1u);
    EXPECT_NE(profiler, gpu);
  }
}

TEST_F(MergeTraces, RemovesWhatItHasTakenOver) {
  merged_events();
  std::vector<std::string> left;
  for (const auto& file : fs::directory_iterator(directory)) left.push_back(file.path().filename());
  std::sort(left.begin(), left.end());
  EXPECT_EQ(left, (std::vector<std::string>{"kineto", "trace.json"}));
}

TEST_F(MergeTraces, EachRankHasAFileAsTheProfilerOfPyTorchWritesIt) {
  json later = timeline(1, 1'699'999'999'000'000'000, 1'006'000'000);
  later["pid"] = 4712;
  write("rank-1.timeline.json", later);
  merged_events();
  for (int rank : {0, 1}) {
    std::ifstream stream(directory / "kineto" / ("rank-" + std::to_string(rank) + ".json"));
    const std::string text(std::istreambuf_iterator<char>(stream), {});
    EXPECT_SAYS(text, "\"rank\": " + std::to_string(rank)) << "HolisticTraceAnalysis looks for the blank";
    const json trace = json::parse(text);
    EXPECT_EQ(trace["distributedInfo"]["world_size"], 2);
    std::map<std::string, json> found;
    for (const json& event : trace["traceEvents"]) found[event["name"]] = event;
    EXPECT_EQ(found.at("PyTorch Profiler (0)")["pid"], "Spans") << "what Kineto wrote stays";
    const json& step = found.at("ProfilerStep#2");
    EXPECT_EQ(step["cat"], "user_annotation");
    EXPECT_NEAR(step["dur"].get<double>(), 4000, 1e-6);
    EXPECT_NEAR(found.at("aten::mm")["ts"].get<double>() - step["ts"].get<double>(), 100.5, 0.3);
    EXPECT_EQ(step["tid"], rank == 0 ? 0 : 4712);
  }
}

TEST_F(MergeTraces, WarnsOfADamagedRankAndShowsTheOthers) {
  const std::string whole = kineto(4712, 0, 0).dump();
  std::ofstream(directory / "rank-1.kineto.json") << whole.substr(0, whole.size() / 2);
  const auto events = merged_events();
  ASSERT_EQ(merged.warnings.size(), 1u);
  EXPECT_NE(merged.warnings[0].find("rank-1.kineto.json"), std::string::npos) << merged.warnings[0];
  EXPECT_EQ(find(events, "aten::mm", 0).size(), 1u);
  EXPECT_EQ(find(events, "aten::mm", 1).size(), 0u);
  EXPECT_EQ(find(events, "load", 1).size(), 1u) << "its phases are good";
  EXPECT_TRUE(fs::exists(directory / "rank-1.kineto.json")) << "files that were not merged stay";
}

TEST_F(MergeTraces, AcceptsMissingAndForeignFiles) {
  fs::remove(directory / "rank-0.timeline.json");
  write("rank-1.timeline.json", {{"batches", "none"}});
  write("rank-1.kineto.json", json::array({1, 2}));
  const auto events = merged_events(3);
  EXPECT_EQ(merged.warnings.size(), 5u) << "all files but rank 0's operators";
  EXPECT_EQ(find(events, "aten::mm", 0).size(), 1u);
  EXPECT_NEAR(find(events, "aten::mm", 0)[0]["ts"].get<double>(), 0, 0.5) << "time begins with what there is";
}

TEST_F(MergeTraces, WithoutTimelinesAndOperatorsTimeBeginsWithTheFirstOtherEvent) {
  for (const char* file : {"rank-0.timeline.json", "rank-1.timeline.json", "rank-1.kineto.json"})
    fs::remove(directory / file);
  const auto marker = [](const char* name, double ts) {
    return json{{"ph", "i"}, {"name", name}, {"pid", 4711}, {"tid", 4711}, {"ts", ts}};
  };
  write("rank-0.kineto.json", {{"baseTimeNanoseconds", 1'700'000'000'000'000'000},
                               {"traceEvents", {marker("first", 5100.5), marker("second", 5200.5)}}});
  std::vector<double> times;
  for (const json& event : merged_events())
    if (event.contains("ts")) times.push_back(event["ts"]);
  EXPECT_EQ(times, (std::vector<double>{0, 100}));
}

TEST_F(MergeTraces, AnOperatorWithoutATimeIsDamageAndMovesNoOtherEvent) {
  fs::remove(directory / "rank-0.timeline.json");
  fs::remove(directory / "rank-1.timeline.json");
  json untimed = kineto(4711, 1'700'000'000'000'000'000, 5100.5);
  untimed["traceEvents"][0].erase("ts");
  write("rank-0.kineto.json", untimed);
  const auto events = merged_events();
  ASSERT_EQ(merged.warnings.size(), 3u);
  EXPECT_SAYS(merged.warnings[2], "rank-0.kineto.json is damaged (`traceEvents.ts` is missing");
  EXPECT_SAYS(merged.warnings[2], "aten::mm");
  EXPECT_EQ(find(events, "aten::mm", 0).size(), 0u);
  EXPECT_NEAR(find(events, "aten::mm", 1).at(0)["ts"].get<double>(), 0, 0.5);
}

TEST_F(MergeTraces, ATimelineWhoseEventLacksAKeyIsDamaged) {
  for (const char* key : {"track", "name", "begin_ms", "end_ms"}) {
    json lacking = timeline(1, 1'699'999'999'000'000'000, 1'006'000'000);
    lacking["batches"][0]["events"][1].erase(key);
    write("rank-1.timeline.json", lacking);
    std::string warnings;
    for (const std::string& warning : merge_traces(directory, 2).warnings) warnings += warning + "\n";
    EXPECT_SAYS(warnings, "rank-1.timeline.json is damaged (`batches[0].events[1]." + std::string(key) + "`");
  }
}

TEST_F(MergeTraces, HasNoFileWhenNothingIsThere) {
  for (const char* file :
       {"rank-0.timeline.json", "rank-1.timeline.json", "rank-0.kineto.json", "rank-1.kineto.json"})
    fs::remove(directory / file);
  merged = merge_traces(directory, 2);
  EXPECT_TRUE(merged.file.empty());
  EXPECT_EQ(merged.warnings.size(), 4u);
  EXPECT_FALSE(fs::exists(directory / "trace.json"));
}

}  // namespace harness::trace_test
