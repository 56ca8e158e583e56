// The table of all changes, and which of them two rows of a run differ by.
#include "harness/report/summary/changes.h"

#include <algorithm>

#include "harness/stats/provenance.h"

namespace harness {
namespace {

bool any_row(const Record&) { return true; }
bool is_cold(const Record& record) { return record.config.cache == "cold"; }
bool is_separate(const Record& record) { return record.device.kind != "cpu"; }
bool has_sixteen_bits(const Record& record) {
  return record.config.precision == "o0" &&
         (is_separate(record) || !record.machine.sixteen_bit_instructions.empty());
}

}  // namespace

const std::vector<Change>& changes() {
  // clang-format off
  static const std::vector<Change> all = {
      {.name = "unchanged", .title = "as asked"},
      {.name = "more_threads", .against = "unchanged", .resource = "loader threads",
       .title = "twice the loader threads", .next = "more loader threads (loader_threads)",
       .factor = 2, .for_good = true, .cost = Cost::setting, .fields = {"loader_threads"}, .possible = any_row},
      {.name = "fewer_threads", .against = "unchanged", .title = "half the loader threads"},
      {.name = "more_cores", .against = "unchanged", .resource = "cores",
       .title = "twice the cores and loader threads", .next = "more cores for the loader",
       .factor = 2, .for_good = true,
       .includes = {"more_threads"}, .cost = Cost::purchase, .fields = {"cpus", "loader_threads"}, .unit = "cores",
       .possible = any_row},
      {.name = "fewer_cores", .against = "unchanged", .title = "half the cores"},
      {.name = "no_readahead", .against = "unchanged", .resource = "read-ahead",
       .title = "without the kernel's read-ahead", .next = "readahead=false",
       .for_good = true, .cost = Cost::setting, .fields = {"readahead"}, .values = {"false"},
       .possible = [](const Record& record) { return is_cold(record) && record.config.readahead; }},
      {.name = "in_memory", .against = "unchanged", .resource = "storage", .title = "storage in memory",
       .next = "a copy of the images in memory (storage=tmpfs)",
       .for_good = true, .includes = {"no_readahead"}, .cost = Cost::conversion,
       .fields = {"storage", "cache", "read_rate"}, .values = {"tmpfs"}, .possible = is_cold},
      {.name = "no_decoding", .against = "in_memory", .resource = "decoding",
       .title = "raw pixels in memory, nothing to decode", .next = "decoded images (storage=raw)",
       .cost = Cost::conversion, .fields = {"storage", "cache"}, .values = {"raw"},
       .possible = [](const Record& record) { return record.config.storage != "raw"; }},
      {.name = "packed", .against = "unchanged", .resource = "files of single images",
       .title = "all images in one file (LMDB)", .next = "images packed into one file (storage=lmdb)",
       .for_good = true, .cost = Cost::conversion, .fields = {"storage", "cache", "readahead", "read_rate"},
       .values = {"lmdb", "tfrecord", "hdf5", "parquet"},
       .possible = [](const Record& record) { return record.config.storage == "files" && is_cold(record); },
       .when_named = true},
      {.name = "made_up", .against = "no_decoding", .resource = "loader", .title = "made-up batches, no loader",
       .next = "less work per image in the loader: batch_format uint8",
       .includes = {"more_threads", "more_cores", "in_memory", "no_decoding"}},
      {.name = "smaller_copies", .against = "unchanged", .resource = "copies to the device",
       .title = "batches of a quarter of the bytes", .next = "batch_format=uint8",
       .factor = 4, .for_good = true, .cost = Cost::setting, .fields = {"batch_format"}, .values = {"uint8"},
       .possible = [](const Record& record) { return is_separate(record) && record.config.batch_format != "uint8"; }},
      {.name = "sixteen_bit", .against = "unchanged", .resource = "arithmetic", .title = "16-bit precision (O2)",
       .next = "precision=o2", .factor = 2, .for_good = true, .cost = Cost::setting, .fields = {"precision"},
       .values = {"o1", "o2", "o3", "bf16"}, .possible = has_sixteen_bits, .when_named = true},
      {.name = "own_processes", .against = "unchanged", .resource = "one process for all devices",
       .title = "one process per device (DDP)", .next = "strategy=ddp", .for_good = true, .cost = Cost::setting,
       .fields = {"strategy", "backend"}, .values = {"ddp", "apex", "horovod"},
       .possible = [](const Record& record) { return record.config.strategy == "data_parallel"; },
       .when_named = true},
      {.name = "more_devices", .against = "unchanged", .resource = "number of devices",
       .title = "twice the devices", .next = "more devices", .factor = 2, .cost = Cost::purchase,
       .fields = {"devices", "nodes", "strategy", "backend", "link", "link_rate_mbit", "time_scale"},
       .unit = "devices", .possible = is_separate, .when_named = true},
      {.name = "no_host_work", .against = "unchanged", .resource = "host work",
       .title = "without the host's added work", .next = "take the work out of the training thread",
       .for_good = true, .cost = Cost::setting, .fields = {"host_work_ms"}, .values = {"0"},
       .possible = [](const Record& record) { return record.config.host_work_ms > 0; }},
      {.name = "no_launches", .against = "unchanged", .resource = "kernel launches",
       .title = "kernel launches that cost no host time",
       .next = "fewer, larger kernels (cuda_graphs=true)", .for_good = true, .cost = Cost::setting,
       .fields = {"cuda_graphs"}, .values = {"true"},
       .possible = [](const Record& record) { return is_separate(record) && !record.config.cuda_graphs; }},
      {.name = "timed_device", .against = "unchanged", .resource = "cores shared with the device",
       .title = "computing as timed waits of the same length",
       .next = "cores that the device does not share with the loader"},
      {.name = "faster_device", .against = "timed_device", .resource = "device",
       .title = "a device that computes twice as fast", .next = "a faster device",
       .factor = 2, .for_good = true, .cost = Cost::purchase, .possible = any_row},
      {.name = "faster_peers", .against = "unchanged", .resource = "links between devices",
       .title = "four times the rate between devices of a node", .next = "a faster interconnect within the node",
       .factor = 4, .cost = Cost::purchase,
       .possible = [](const Record& record) { return is_separate(record) && record.config.devices > 1; }},
      {.name = "faster_link", .against = "unchanged", .resource = "link between nodes",
       .title = "a faster link between nodes",
       .next = "a faster network between nodes", .for_good = true, .cost = Cost::purchase,
       .fields = {"link_rate_mbit", "link"}, .unit = "rate of the link",
       .possible = [](const Record& record) { return record.config.nodes > 1; }},
      {.name = "slower_link", .against = "unchanged", .title = "half the rate between nodes"},
      {.name = "no_collectives", .against = "unchanged", .resource = "collectives",
       .title = "collectives left out (no training)", .next = "ranks of even speed, fewer or smaller messages",
       .includes = {"faster_peers", "faster_link"}},
      {.name = "added_host_work", .against = "unchanged", .title = "more work of the training thread", .burden = true},
      {.name = "added_read_time", .against = "unchanged", .title = "slower reading", .burden = true}};
  // clang-format on
  return all;
}

const Change* find_change(const std::string& name) {
  for (const Change& change : changes())
    if (name == change.name) return &change;
  return nullptr;
}

const char* title_of_change(const std::string& name) {
  const Change* change = find_change(name);
  return change ? change->title : "";
}

static bool shows(const Change& change, const Row& base, const Row& row,
                  const std::vector<std::string>& differing) {
  const auto has = [](const std::vector<const char*>& list, const std::string& text) {
    return std::find(list.begin(), list.end(), text) != list.end();
  };
  if (!std::all_of(differing.begin(), differing.end(),
                   [&](const auto& name) { return has(change.fields, name); }))
    return false;
  if (change.values.empty())
    return std::all_of(differing.begin(), differing.end(), [&](const std::string& name) {
      return field_number(row, name) >= field_number(base, name);
    });
  const std::string key = change.fields.front();
  return field_text(base, key) != field_text(row, key) && has(change.values, field_text(row, key));
}

std::vector<std::string> differences(const Row& one, const Row& other) {
  std::vector<std::string> names = different_settings(one, other);
  std::erase_if(names, [](const std::string& name) { return name == "window" || name == "warmup_batches"; });
  return names;
}

const Change* change_between(const Row& base, const Row& row) {
  const std::vector<std::string> differing = differences(base, row);
  if (differing.empty()) return nullptr;
  const auto found = std::find_if(changes().begin(), changes().end(),
                                  [&](const Change& change) { return shows(change, base, row, differing); });
  return found == changes().end() ? nullptr : &*found;
}

}  // namespace harness
