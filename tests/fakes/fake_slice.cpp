// A fake train_slice for the harness's tests: the same protocol without training. FAKE_SLICE sets a
// misbehaviour ("crash", "hang", ... or "ROW=behaviour,ROW=behaviour"), FAKE_TAKEN in the same way the share
// of the row's cores that others took. FAKE_TIMES and FAKE_CANARIES multiply the reported times of slice and
// canaries. FAKE_GPUS is the reported number of GPUs, FAKE_MEMORY the number
// of images that fit into one, or into 16 GiB of an emulated device, FAKE_PROBE_SIGNAL the signal that ends
// the probe of it; FAKE_NVJPEG=0 reports a build without nvJPEG. FAKE_LOADER is the images per second of the
// loader of rows on emulated devices if it has a thread for each core; FAKE_DECODING those that the machine
// decodes; FAKE_NOTE is a note of each rank; FAKE_STEP the parts of a step of other rows, see add_parts().
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "harness/contract/emulated_device.h"
#include "harness/contract/progress.h"
#include "harness/contract/rank_report.h"
#include "harness/contract/slice_file.h"

using nlohmann::json;

static const json kValues = json::parse(R"({
  "device":    [{"name": "cpu", "summary": "", "traits": {}, "missing": ""},
                {"name": "emulated", "summary": "", "traits": {}, "missing": ""}],
  "storage":   [{"name": "files", "summary": "", "traits": {}, "missing": ""},
                {"name": "tmpfs", "summary": "", "traits": {"packed": true, "transient": true}, "missing": ""},
                {"name": "lmdb", "summary": "", "traits": {"packed": true}, "missing": ""},
                {"name": "raw", "summary": "", "traits": {"packed": true}, "missing": ""},
                {"name": "synthetic", "summary": "", "traits": {}, "missing": ""}],
  "strategy":  [{"name": "single", "summary": "", "traits": {"process_per_device": false, "several_devices": false}, "missing": ""},
                {"name": "data_parallel", "summary": "", "traits": {"process_per_device": false, "several_devices": true}, "missing": ""},
                {"name": "ddp", "summary": "", "traits": {"process_per_device": true, "several_devices": true}, "missing": ""},
                {"name": "apex", "summary": "", "traits": {"process_per_device": true, "several_devices": true}, "missing": "no apex here"},
                {"name": "horovod", "summary": "", "traits": {"process_per_device": true, "several_devices": true}, "missing": "no horovod here"}],
  "backend":   [{"name": "none", "summary": "", "traits": {}, "missing": ""},
                {"name": "gloo", "summary": "", "traits": {}, "missing": ""},
                {"name": "mpi", "summary": "", "traits": {}, "missing": ""}],
  "link":      [{"name": "none", "summary": "", "traits": {}, "missing": ""},
                {"name": "ethernet", "summary": "", "traits": {}, "missing": "no second node here"},
                {"name": "infiniband", "summary": "", "traits": {}, "missing": "no second node here"}],
  "precision": [{"name": "o0", "summary": "", "traits": {}, "missing": ""}, {"name": "o1", "summary": "", "traits": {}, "missing": ""},
                {"name": "o2", "summary": "", "traits": {}, "missing": ""}, {"name": "o3", "summary": "", "traits": {}, "missing": ""},
                {"name": "bf16", "summary": "", "traits": {}, "missing": ""}]})");

// What the variable says of this row: "VALUE" or "ROW=VALUE,ROW=VALUE".
static std::string value_for(const std::string& row, const char* variable) {
  const char* text = std::getenv(variable);
  const std::string all = text ? text : "";
  if (all.find('=') == std::string::npos) return all;
  const size_t at = ("," + all).find("," + row + "=");
  if (at == std::string::npos) return "";
  const std::string rest = all.substr(at + row.size() + 1);
  return rest.substr(0, rest.find(','));
}

static double factor_of(const char* variable) {
  const char* text = std::getenv(variable);
  return text ? std::atof(text) : 1;
}

static json values() {
  json all = kValues;
  if (!std::getenv("FAKE_GPUS")) return all;
  const json count = {{"count", int64_t(factor_of("FAKE_GPUS"))}, {"nvjpeg", factor_of("FAKE_NVJPEG") != 0}};
  all["device"].push_back({{"name", "cuda"}, {"summary", ""}, {"traits", count}, {"missing", ""}});
  all["backend"].push_back(
      {{"name", "nccl"}, {"summary", ""}, {"traits", {{"device", "cuda"}}}, {"missing", ""}});
  return all;
}

static harness::RankReport report_of(const json& row, int rank, int ranks) {
  const size_t batches = row["timed_batches"];
  const double times = factor_of("FAKE_TIMES");
  const auto constant = [&](double value) { return std::vector<double>(batches, times * value); };
  harness::RankReport report;
  report.place = {rank, 0, "fake", "cpu:0", {0}, {}};
  report.total_s = double(batches) * 0.004 * times;
  report.clock_calls = 12;
  report.loss.assign(batches, 1.5);
  if (value_for(row["id"], "FAKE_SLICE") != "flat") report.loss.front() = 6;
  report.correct = {1, 3, 10};
  report.ready = {8, 8};
  report.cache.requested = row["cache"];
  report.cache.state = "none";
  report.cache.storage_used = row["storage"];
  report.cache.encoded_bytes = 1;
  report.checks = {{"gradients", true, ""}};
  if (const char* note = std::getenv("FAKE_NOTE")) report.notes = {note};
  // Without it the harness takes what the hypervisor stole from the real machine for a disturbance of these
  // made-up times.
  const double stolen_s = report.total_s * std::atof(value_for(row["id"], "FAKE_TAKEN").c_str());
  report.cpu_time = {
      report.total_s, report.total_s - stolen_s, stolen_s, report.total_s - stolen_s, 0.0, 0, 1};
  report.samples_ms = {{"load", constant(1)}, {"forward", constant(1)}, {"backward", constant(2)}};
  if (ranks > 1) report.traffic.emplace();
  report.ceilings = {2, 3.0, {{"forward", 1.0}, {"backward", 2.0}}, 2.5, 25.0, 75.0, {}, {}};
  if (rank == 0)
    report.timeline = {
        1, 0, {{0, "host", "load", 0, 1}, {0, "host", "forward", 1, 2}, {0, "host", "backward", 2, 4}}};
  return report;
}

// Device and loader of a row on an emulated device, one of which limits every batch.
static void add_emulation(harness::RankReport& report, const json& row, const harness::Emulation& emulation) {
  const harness::PrecisionCosts& costs = emulation.device.models.at(row["model"]).at(row["precision"]);
  const double divisor = double(emulation.batch_divisor), images = row["batch"];
  const bool trains = row["part"] == "all";
  const double compute_ms = double(trains) * emulation.time_scale / divisor * costs.step_ms(images * divisor);
  const double rate = factor_of("FAKE_LOADER") *
                      std::min(1.0, row["loader_threads"].get<double>() / row["cpus"].get<double>());
  const double load_ms = row["storage"] == "synthetic" ? 0 : images / rate * 1e3;
  const double step_ms = std::max(compute_ms, load_ms);
  const size_t batches = row["timed_batches"];
  report.total_s = step_ms * double(batches) * 1e-3;
  report.device_ms = {{"load", std::vector<double>(batches, step_ms - compute_ms)},
                      {"forward", std::vector<double>(batches, compute_ms)}};
  report.ready = {0, 0};
  report.cache.encoded_bytes =
      100000 * (int64_t(batches) + row["warmup_batches"].get<int64_t>()) * row["batch"].get<int64_t>();
  report.loss.clear();
  report.correct = {};
  report.ceilings.reset();
}

// FAKE_STEP="read=20,decode=10,threads=2,compute=5,link=3": milliseconds of the parts of a batch of a row on
// the CPU.
static void add_parts(harness::RankReport& report, const json& row, const std::string& parts) {
  const auto part = [&](const std::string& name) {
    const size_t at = ("," + parts).find("," + name + "=");
    return at == std::string::npos ? 0 : std::atof(parts.c_str() + at + name.size() + 1);
  };
  const bool in_memory = row["cache"] != "cold";
  const double threads = row["loader_threads"], latency_ms = row["read_latency_ms"], batch = row["batch"];
  const double read_ms = (in_memory ? 0 : part("read")) + latency_ms * batch / threads;
  const double decode_ms = row["storage"] == "raw" ? 0 : part("decode") * part("threads") / threads;
  const double load_ms = row["storage"] == "synthetic" ? 0 : read_ms + decode_ms;
  const double train_ms = part("compute") + row["host_work_ms"].get<double>() +
                          (row["collectives"].get<bool>() ? part("link") : 0);
  report.total_s = double(report.loss.size()) * std::max(load_ms, train_ms) * 1e-3;
}

// Whether a device of the row holds its images; without FAKE_MEMORY it holds any number.
static bool fits(const json& job) {
  const json& row = job["row"];
  if (!std::getenv("FAKE_MEMORY") || row["part"] != "all") return true;
  const bool emulated = row["device"] == "emulated";
  const double share =
      emulated ? harness::decode<harness::Emulation>(job["emulation"]).device.memory_gib.value / 16 : 1;
  const double images = double(row["batch"].get<int64_t>() / row["devices"].get<int64_t>());
  return images <= share * factor_of("FAKE_MEMORY");
}

static void write_slice(const std::string& file, const json& job, int ranks, const std::string& behaviour) {
  const json& row = job["row"];
  harness::SliceFacts facts;
  facts.device.kind = row["device"];
  facts.device.name = "fake";
  facts.device.label = row["device"] == "emulated" ? "1 emulated replica" : "1 CPU replica";
  facts.precision.name = row["precision"];
  facts.clock_ns_per_call = 30;
  std::vector<std::string> reports;
  for (int rank = 0; rank < ranks; ++rank) {
    harness::RankReport report = report_of(row, rank, ranks);
    if (row["device"] == "emulated")
      add_emulation(report, row, harness::decode<harness::Emulation>(job["emulation"]));
    else if (const char* parts = std::getenv("FAKE_STEP"))
      add_parts(report, row, parts);
    if (rank == 0 && row.value("validation", false))
      report.accuracy = {0.5, 0.9, 80, row["classes"], 160, "synthetic"};
    if (rank == 0 && behaviour == "invalid") report.checks.push_back({"cache", false, "was warm"});
    if (rank == 0 && behaviour == "diverge")
      report.checks.push_back({"loss", false, "not finite in batch 4"});
    reports.push_back(harness::encode(report).dump());
  }
  if (behaviour == "incomplete") reports[0] = json{{"total_s", 1.0}, {"checks", json::array()}}.dump();
  if (behaviour == "short") reports.pop_back();
  std::ofstream(file) << harness::slice_text(facts, std::move(reports));
}

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--values") == 0) {
    std::cout << values() << '\n';
    return 0;
  }
  if (argc > 1 && std::strcmp(argv[1], "--canaries") == 0) {
    const double factor = factor_of("FAKE_CANARIES");
    if (factor <= 0) return 1;
    std::cout << json{{"gemm_ms", 3 * factor}, {"memcpy_ms", 8 * factor}} << '\n';
    return 0;
  }
  if (argc > 1 && std::strcmp(argv[1], "--probe-decoding") == 0) {
    if (!std::getenv("FAKE_DECODING")) return 1;
    std::cout << json{{"images_per_s", factor_of("FAKE_DECODING")}} << '\n';
    return 0;
  }
  std::string job_file;
  bool memory = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--job") == 0) job_file = argv[i + 1];
    memory = memory || std::strcmp(argv[i], "--probe-memory") == 0;
  }
  std::ifstream stream(job_file);
  const json job = json::parse(stream);
  if (memory) {
    if (const char* name = std::getenv("FAKE_PROBE_SIGNAL")) {
      signal(std::atoi(name), SIG_DFL);  // sanitizers turn some into an exit code
      raise(std::atoi(name));
    }
    std::cout << json{{"images", 0}, {"fits", fits(job)}} << '\n';
    return 0;
  }
  const int rank = std::atoi(std::getenv("RANK")), ranks = std::atoi(std::getenv("WORLD_SIZE"));
  const std::string directory = job["directory"], behaviour = value_for(job["row"]["id"], "FAKE_SLICE");
  harness::Progress progress(job["progress"].get<std::string>(), 0);
  signal(SIGUSR2, [](int) { (void)!write(2, "stack of the fake\n", 18); });

  const bool last = rank == ranks - 1;  // the rank that misbehaves
  for (int batch = 0; batch < 3; ++batch) progress.slot(rank).batches = uint64_t(batch + 1);
  if (behaviour == "crash" && last) {
    std::cerr << "about to fall over" << std::endl;
    raise(SIGABRT);  // not SIGSEGV, which sanitizers turn into an exit code
  }
  if (behaviour == "exit3" && last) return 3;
  if ((behaviour == "error" || !fits(job)) && last) {
    std::ofstream(directory + "/rank-" + std::to_string(rank) + ".error.json")
        << json{{"status", "OUT_OF_MEMORY"}, {"reason", "wanted 1 TB"}};
    return 1;
  }
  if (behaviour == "hang") {
    harness::set_why_ended(progress.slot(rank),
                           json{{"status", "HUNG"}, {"reason", "it still reads /copy"}}.dump());
    std::ofstream(directory + "/rank-" + std::to_string(rank) + ".flight.json")
        << json{{"entries",
                 {{{"pg_id", 0},
                   {"collective_seq_id", 57},
                   {"profiling_name", "nccl:all_reduce"},
                   {"input_sizes", {{1024}}},
                   {"state", "started"}}}}};
    std::this_thread::sleep_for(std::chrono::hours(1));
  }
  if (behaviour == "slow")
    for (int batch = 3; batch < 10000; ++batch) {
      progress.slot(rank).batches = uint64_t(batch + 1);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  if (behaviour == "crash" || behaviour == "error") std::this_thread::sleep_for(std::chrono::hours(1));
  if (rank != 0) return 0;
  const std::string file = directory + "/slice.jsonl";
  if (behaviour == "garbage")
    std::ofstream(file) << "{\"total_s\": 1.0, tru";
  else if (behaviour != "silent")
    write_slice(file, job, ranks, behaviour);
  return 0;
}
