// A fake train_slice for the harness's tests: the same protocol without training. FAKE_SLICE sets a
// misbehaviour ("crash", "hang", ... or "ROW=behaviour,ROW=behaviour"). FAKE_TIMES and FAKE_CANARIES multiply
// the reported times of slice and canaries. FAKE_GPUS is the reported number of GPUs, FAKE_MEMORY the number
// of images that fit into one; FAKE_NVJPEG=0 reports a build without nvJPEG.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "harness/contract/progress.h"

using nlohmann::json;

static const json kValues = json::parse(R"({
  "device":    [{"name": "cpu", "summary": "", "traits": {}, "missing": ""}],
  "storage":   [{"name": "files", "summary": "", "traits": {}, "missing": ""},
                {"name": "tmpfs", "summary": "", "traits": {"packed": true, "transient": true}, "missing": ""},
                {"name": "lmdb", "summary": "", "traits": {"packed": true}, "missing": ""},
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

static std::string behaviour_for(const std::string& row) {
  const char* variable = std::getenv("FAKE_SLICE");
  const std::string all = variable ? variable : "";
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

static json result_of(const json& row, int ranks) {
  const int64_t batches = row["timed_batches"];
  const double times = factor_of("FAKE_TIMES");
  const auto constant = [&](double value) {
    return std::vector<std::vector<double>>(size_t(ranks),
                                            std::vector<double>(size_t(batches), times * value));
  };
  const auto event = [](const char* phase, double begin_ms, double end_ms) {
    return json{{"rank", 0}, {"track", "host"}, {"name", phase}, {"begin_ms", begin_ms}, {"end_ms", end_ms}};
  };
  json places = json::array();
  for (int rank = 0; rank < ranks; ++rank)
    places.push_back({{"rank", rank}, {"node", 0}, {"host", "fake"}, {"device", "cpu:0"}, {"cpus", {0}}});
  return {{"schema", 1},
          {"row", row["id"]},
          {"repeat", 0},
          {"status", "OK"},
          {"config", row},
          {"scale", {{"name", ""}}},
          {"total_s", double(batches) * 0.004 * times},
          {"rank_map", places},
          {"samples_ms", {{"load", constant(1)}, {"forward", constant(1)}, {"backward", constant(2)}}},
          {"warmup_ms", json::object()},
          {"spans_ms", json::object()},
          {"device_ms", json::object()},
          {"loss", std::vector<double>(size_t(batches), 1.5)},
          {"top1", 0.1},
          {"top5", 0.3},
          {"ring", {{"depth", 8}, {"ready_at_start", {8}}, {"ready_at_end", {8}}}},
          {"cache",
           {{"requested", row["cache"]},
            {"state", "none"},
            {"storage_used", row["storage"]},
            {"encoded_bytes", 1}}},
          {"bad_images", 0},
          {"warnings", json::array()},
          {"checks", {{{"name", "gradients"}, {"ok", true}, {"detail", ""}}}},
          {"ceilings",
           {{"batches", 2},
            {"loader_ms", 2.5},
            {"read_share", 0.25},
            {"compute", {{"forward", 1.0}, {"backward", 2.0}}},
            {"compute_ms", 3.0}}},
          {"timeline",
           {{"batch", batches - 1},
            {"clocks", "one host"},
            {"events", {event("load", 0, 1), event("forward", 1, 2), event("backward", 2, 4)}}}},
          {"clock", {{"calls", 12}, {"ns_per_call", 30}}},
          {"device", {{"kind", "cpu"}, {"name", "fake"}, {"label", "1 CPU replica"}}},
          {"precision", {{"name", row["precision"]}, {"sixteen_bit", ""}}}};
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
  std::string job_file;
  bool probe = false, memory = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--job") == 0) job_file = argv[i + 1];
    probe = probe || std::strcmp(argv[i], "--probe-precision") == 0;
    memory = memory || std::strcmp(argv[i], "--probe-memory") == 0;
  }
  std::ifstream stream(job_file);
  const json job = json::parse(stream);
  if (probe) {
    const double slow = std::getenv("FAKE_SLOW_16_BIT") ? 9.0 : 1.0;
    std::cout << json{{"o0", 1.0}, {"o1", slow}, {"o2", slow}, {"o3", slow}} << '\n';
    return 0;
  }
  if (memory) {  // a device that holds as many images
    const int64_t images = job["row"]["batch"].get<int64_t>() / job["row"]["devices"].get<int64_t>();
    std::cout << json{{"images", images}, {"fits", double(images) <= factor_of("FAKE_MEMORY")}} << '\n';
    return 0;
  }
  const int rank = std::atoi(std::getenv("RANK")), ranks = std::atoi(std::getenv("WORLD_SIZE"));
  const std::string directory = job["directory"], behaviour = behaviour_for(job["row"]["id"]);
  harness::Progress progress(job["progress"].get<std::string>(), 0);
  signal(SIGUSR2, [](int) { (void)!write(2, "stack of the fake\n", 18); });

  const bool last = rank == ranks - 1;  // the rank that misbehaves
  for (int batch = 0; batch < 3; ++batch) progress.slot(rank).batches = uint64_t(batch + 1);
  if (behaviour == "crash" && last) {
    std::cerr << "about to fall over" << std::endl;
    raise(SIGABRT);  // not SIGSEGV, which sanitizers turn into an exit code
  }
  if (behaviour == "exit3" && last) return 3;
  if (behaviour == "error" && last) {
    std::ofstream(directory + "/rank-" + std::to_string(rank) + ".error.json")
        << json{{"status", "OUT_OF_MEMORY"}, {"reason", "wanted 1 TB"}};
    return 1;
  }
  if (behaviour == "hang") std::this_thread::sleep_for(std::chrono::hours(1));
  if (behaviour == "slow")
    for (int batch = 3; batch < 10000; ++batch) {
      progress.slot(rank).batches = uint64_t(batch + 1);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  if (behaviour == "crash" || behaviour == "error") std::this_thread::sleep_for(std::chrono::hours(1));
  if (rank != 0) return 0;
  json result = result_of(job["row"], ranks);
  if (job["row"].value("validation", false))
    result["accuracy"] = {{"top1", 0.5},         {"top5", 0.9},
                          {"images", 80},        {"classes", job["row"]["classes"]},
                          {"kind", "synthetic"}, {"train_images", 160}};
  if (behaviour == "invalid")
    result["checks"].push_back({{"name", "cache"}, {"ok", false}, {"detail", "was warm"}});
  if (behaviour == "diverge")
    result["checks"].push_back({{"name", "loss"}, {"ok", false}, {"detail", "not finite in batch 4"}});
  std::ofstream out(directory + "/slice.json");
  if (behaviour == "garbage")
    out << "{\"total_s\": 1.0, tru";
  else if (behaviour == "incomplete")
    out << json{{"total_s", 1.0}, {"checks", json::array()}};
  else if (behaviour != "silent")
    out << result;
  return 0;
}
