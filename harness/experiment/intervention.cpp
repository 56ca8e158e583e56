// The table of the interventions that change a row.
#include "harness/experiment/intervention.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/config/row_traits.h"
#include "harness/contract/precision_traits.h"

namespace harness {
namespace {

bool any_row(const Record&) { return true; }
bool is_cold(const Record& record) { return record.config.cache == "cold"; }
bool is_separate(const Record& record) { return record.device.kind != "cpu"; }
bool has_sixteen_bits(const Record& record) {
  if (record.emulation && !find_costs(record.emulation->device, record.config.model, "o2")) return false;
  return !precision_traits(record.config.precision).sixteen_bit() &&
         (is_separate(record) || !record.machine.sixteen_bit_instructions.empty());
}

// ---- why a row can't be changed so ----

using Why = std::string;

bool loads(const Row& row) { return row.storage != "synthetic"; }
Why without_loader(const Row& row) { return loads(row) ? "" : "storage synthetic loads nothing"; }

bool is_read_from_memory(const Row& row, const RowContext& it) {
  const bool remote = !service_of(it.values, row.storage).empty();
  const bool in_memory = row.cache == "warm" || (!has_page_cache(it.values, row.storage) && !remote);
  return in_memory && row.read_rate == 0 && row.read_latency_ms == 0;
}

Why without_shaped_link(const Row& row, const RowContext&) {
  if (row.nodes == 1) return "there is one node";
  return row.link_rate_mbit == 0 ? "the link is not shaped: its rate is the hardware's" : "";
}

// ---- how it is changed ----

void read_from_memory(Row& row, const std::string& storage, const RowContext& it) {
  row.storage = storage;
  row.cache = has_page_cache(it.values, storage) ? "warm" : "as_is";
  row.read_rate = row.read_latency_ms = row.store_rate_mbit = row.store_latency_ms = 0;
}

std::vector<Intervention> row_interventions() {
  // clang-format off
  return {
      {.name = "unchanged", .title = "as asked",
       .of_loader = true, .apply = [](Row&, const RowContext&) {},
       .of_job = [](JobChange& it, const JobFacts&) { it.segment = nlohmann::json::object(); }},
      {.name = "more_threads", .against = "unchanged", .resource = "loader threads",
       .title = "twice the loader threads", .next = "more loader threads (loader_threads)",
       .factor = 2, .for_good = true, .cost = Cost::setting, .fields = {"loader_threads"}, .possible = any_row,
       .of_loader = true,
       .why_not = [](const Row& row, const RowContext&) {
         return row.loader_threads > 256 ? "loader_threads can be 512 at most" : without_loader(row); },
       .apply = [](Row& row, const RowContext&) { row.loader_threads = std::max<int64_t>(1, 2 * row.loader_threads); }},
      {.name = "fewer_threads", .against = "unchanged", .title = "half the loader threads",
       .of_loader = true,
       .why_not = [](const Row& row, const RowContext&) -> Why {
         return row.loader_threads < 2 ? "one loader thread can't be halved" : without_loader(row); },
       .apply = [](Row& row, const RowContext&) { row.loader_threads /= 2; }},
      {.name = "more_cores", .against = "unchanged", .resource = "cores",
       .title = "twice the cores and loader threads", .next = "more cores for the loader",
       .factor = 2, .for_good = true,
       .includes = {"more_threads"}, .cost = Cost::purchase, .fields = {"cpus", "loader_threads"}, .unit = "cores",
       .possible = any_row,
       .why_not = [](const Row& row, const RowContext& it) -> Why {
         return emulates_cores(row) || 2 * row.cpus <= it.cores
                    ? "" : fmt::format("the row uses {} cores, and this machine has {}", row.cpus, it.cores); },
       .apply = [](Row& row, const RowContext&) {
         row.cpus *= 2;
         row.loader_threads = std::min<int64_t>(512, 2 * row.loader_threads); }},
      {.name = "fewer_cores", .against = "unchanged", .title = "half the cores",
       .why_not = [](const Row& row, const RowContext&) -> Why {
         return row.cpus < 2 ? "one core can't be halved" : ""; },
       .apply = [](Row& row, const RowContext&) { row.cpus /= 2; },
       .job_why_not = [](const JobFacts& job) -> Why { return job.cores < 2 ? "one core can't be halved" : ""; },
       .of_job = [](JobChange& it, const JobFacts& job) { it.cores = job.cores / 2; }},
      {.name = "no_readahead", .against = "unchanged", .resource = "read-ahead",
       .title = "without the kernel's read-ahead", .next = "readahead=false",
       .for_good = true, .cost = Cost::setting, .fields = {"readahead"}, .values = {"false"},
       .why_not = [](const Row& row, const RowContext&) -> Why {
         if (!row.readahead) return "readahead is false already";
         return row.cache == "cold" ? "" : "it is read from memory already"; },
       .apply = [](Row& row, const RowContext&) { row.readahead = false; }},
      {.name = "in_memory", .against = "unchanged", .resource = "storage", .title = "storage in memory",
       .next = "a copy of the images in memory (storage=tmpfs)",
       .for_good = true, .includes = {"no_readahead"}, .cost = Cost::conversion,
       .fields = {"storage", "cache", "read_rate"}, .values = {"tmpfs"}, .possible = is_cold,
       .of_loader = true, .first = true,
       .why_not = [](const Row& row, const RowContext& it) -> Why {
         return loads(row) && is_read_from_memory(row, it) ? "it is read from memory already" : without_loader(row); },
       .apply = [](Row& row, const RowContext& it) {
         read_from_memory(row, service_of(it.values, row.storage).empty() ? row.storage : "tmpfs", it); }},
      {.name = "no_decoding", .against = "in_memory", .resource = "decoding",
       .title = "raw pixels in memory, nothing to decode", .next = "decoded images (storage=raw)",
       .cost = Cost::conversion, .fields = {"storage", "cache"}, .values = {"raw"},
       .possible = [](const Record& record) { return record.config.storage != "raw"; },
       .of_loader = true, .first = true,
       .why_not = [](const Row& row, const RowContext& it) -> Why {
         if (!loads(row)) return without_loader(row);
         if (row.storage == "raw") return "storage raw has nothing to decode";
         return it.own_images ? "raw pixels of --data would take about twice its disk space; without --data, "
                                "stand-in images are tried"
                              : ""; },
       .apply = [](Row& row, const RowContext& it) {
         read_from_memory(row, "raw", it);
         // The rate of an emulated core is one of decoding JPEG: without decoding it is this machine's.
         if (emulates_cores(row)) row.core_images_per_s = kUnlimitedCore; }},
      {.name = "packed", .against = "unchanged", .resource = "files of single images",
       .title = "all images in one file (LMDB)", .next = "images packed into one file (storage=lmdb)",
       .for_good = true, .cost = Cost::conversion, .fields = {"storage", "cache", "readahead", "read_rate"},
       .values = {"lmdb", "tfrecord", "hdf5", "parquet"},
       .when_named = true,
       .why_not = [](const Row& row, const RowContext&) -> Why {
         return row.storage == "files" && row.cache == "cold" ? "" : "the row reads no single files from a cold disk"; },
       .apply = [](Row& row, const RowContext&) {
         row.storage = "lmdb";
         row.readahead = false; }},
      {.name = "made_up", .against = "no_decoding", .resource = "loader", .title = "made-up batches, no loader",
       .next = "less work per image in the loader: batch_format uint8",
       .includes = {"more_threads", "more_cores", "in_memory", "no_decoding"},
       .of_loader = true, .first = true,
       .why_not = [](const Row& row, const RowContext&) { return without_loader(row); },
       .apply = [](Row& row, const RowContext& it) {
         read_from_memory(row, "synthetic", it);
         row.order = "shuffled"; }},
      {.name = "smaller_copies", .against = "unchanged", .resource = "copies to the device",
       .title = "batches of a quarter of the bytes", .next = "batch_format=uint8",
       .factor = 4, .for_good = true, .cost = Cost::setting, .fields = {"batch_format"}, .values = {"uint8"},
       .possible = [](const Record& record) { return is_separate(record) && record.config.batch_format != "uint8"; },
       .why_not = [](const Row& row, const RowContext&) -> Why {
         if (row.device == "cpu") return "device cpu copies nothing: it computes where the batches are";
         return row.batch_format == "uint8" ? "batch_format is uint8 already" : ""; },
       .apply = [](Row& row, const RowContext&) { row.batch_format = "uint8"; }},
      {.name = "sixteen_bit", .against = "unchanged", .resource = "arithmetic", .title = "16-bit precision (O2)",
       .next = "precision=o2", .factor = 2, .for_good = true, .cost = Cost::setting, .fields = {"precision"},
       .values = {"o1", "o2", "o3", "bf16"}, .possible = has_sixteen_bits, .when_named = true,
       .why_not = [](const Row& row, const RowContext&) -> Why {
         return precision_traits(row.precision).sixteen_bit() ? "the row has another precision than o0 already" : ""; },
       .apply = [](Row& row, const RowContext&) { row.precision = "o2"; }},
      {.name = "own_processes", .against = "unchanged", .resource = "one process for all devices",
       .title = "one process per device (DDP)", .next = "strategy=ddp", .for_good = true, .cost = Cost::setting,
       .fields = {"strategy", "backend"}, .values = {"ddp", "apex", "horovod"},
       .when_named = true,
       .why_not = [](const Row& row, const RowContext&) -> Why {
         return row.strategy == "data_parallel" ? "" : "the row doesn't use data_parallel"; },
       .apply = [](Row& row, const RowContext&) {
         row.strategy = "ddp";
         row.backend = row.device == "cpu" ? "gloo" : row.device == "cuda" ? "nccl" : "emulated"; }},
      {.name = "more_devices", .against = "unchanged", .resource = "number of devices",
       .title = "twice the devices", .next = "more devices", .factor = 2, .cost = Cost::purchase,
       .fields = {"devices", "nodes", "strategy", "backend", "link", "link_rate_mbit", "time_scale"},
       .unit = "devices", .possible = is_separate, .when_named = true,
       .why_not = [](const Row& row, const RowContext&) -> Why {
         return row.device == "cpu" ? "more replicas would share the same cores" : ""; },
       .apply = [](Row& row, const RowContext&) {
         row.devices *= 2;
         if (row.strategy == "single") row.strategy = "data_parallel"; }},
      {.name = "no_host_work", .against = "unchanged", .resource = "host work",
       .title = "without the host's added work", .next = "take the work out of the training thread",
       .for_good = true, .cost = Cost::setting, .fields = {"host_work_ms"}, .values = {"0"},
       .why_not = [](const Row& row, const RowContext&) -> Why {
         return row.host_work_ms > 0 ? "" : "the row adds none"; },
       .apply = [](Row& row, const RowContext&) { row.host_work_ms = 0; }},
      {.name = "no_launches", .against = "unchanged", .resource = "kernel launches",
       .title = "kernel launches that cost no host time",
       .next = "fewer, larger kernels (cuda_graphs=true)", .for_good = true, .cost = Cost::setting,
       .fields = {"cuda_graphs"}, .values = {"true"},
       .possible = [](const Record& record) {
         const Row& row = record.config;
         return is_separate(record) && !row.cuda_graphs &&
                (row.device != "cuda" || (row.strategy == "single" && row.accumulation == 1 && row.fused_sgd)); },
       .why_not = [](const Row& row, const RowContext&) -> Why {
         if (row.device == "cpu") return "device cpu launches no kernels";
         return row.cuda_graphs ? "cuda_graphs is on already" : ""; },
       .apply = [](Row& row, const RowContext&) { row.cuda_graphs = true; },
       .of_device = [](EmulatedDevice& device) { device.launch_us.value = 0; }},
      {.name = "timed_device", .against = "unchanged", .resource = "cores shared with the device",
       .title = "computing as timed waits of the same length",
       .next = "cores that the device does not share with the loader"},
      {.name = "faster_device", .against = "timed_device", .resource = "device",
       .title = "a device that computes twice as fast", .next = "a faster device",
       .factor = 2, .for_good = true, .cost = Cost::purchase, .possible = any_row,
       .of_device = make_twice_as_fast},
      {.name = "faster_peers", .against = "unchanged", .resource = "links between devices",
       .title = "four times the rate between devices of a node", .next = "a faster interconnect within the node",
       .factor = 4, .cost = Cost::purchase,
       .possible = [](const Record& record) { return is_separate(record) && record.config.devices > 1; },
       .why_not = [](const Row& row, const RowContext&) -> Why {
         return row.devices == 1 ? "one device per node" : ""; },
       .of_device = [](EmulatedDevice& device) {
         device.peer_gb_per_s.value *= kFasterLink;
         device.collective_gb_per_s.value *= kFasterLink; }},
      {.name = "faster_link", .against = "unchanged", .resource = "link between nodes",
       .title = "a faster link between nodes",
       .next = "a faster network between nodes", .for_good = true, .cost = Cost::purchase,
       .fields = {"link_rate_mbit", "link"}, .unit = "rate of the link",
       .possible = [](const Record& record) { return record.config.nodes > 1; },
       .why_not = without_shaped_link,
       .apply = [](Row& row, const RowContext& it) {
         row.link_rate_mbit = computes(row.device, it.values) ? 0 : kFasterLink * row.link_rate_mbit; }},
      {.name = "slower_link", .against = "unchanged", .title = "half the rate between nodes",
       .why_not = without_shaped_link,
       .apply = [](Row& row, const RowContext&) { row.link_rate_mbit /= 2; }},
      {.name = "no_collectives", .against = "unchanged", .resource = "collectives",
       .title = "collectives left out (no training)", .next = "ranks of even speed, fewer or smaller messages",
       .includes = {"faster_peers", "faster_link"},
       .why_not = [](const Row& row, const RowContext& it) -> Why {
         return world_size(row, it.values) == 1 ? "one process, no collectives" : ""; },
       .apply = [](Row& row, const RowContext&) { row.collectives = false; },
       .job_why_not = [](const JobFacts& job) -> Why { return job.world == 1 ? "one process, no collectives" : ""; },
       .of_job = [](JobChange& it, const JobFacts&) { it.segment = nlohmann::json::object(); }},
      {.name = "added_host_work", .against = "unchanged", .title = "more work of the training thread", .burden = true},
      {.name = "added_read_time", .against = "unchanged", .title = "slower reading", .burden = true},
  };
  // clang-format on
}

}  // namespace

const std::vector<Intervention>& interventions() {
  static const std::vector<Intervention> all = [] {
    std::vector<Intervention> table = row_interventions();
    for (Intervention& change : job_interventions()) table.push_back(std::move(change));
    return table;
  }();
  return all;
}

}  // namespace harness
