#include "harness/report/summary/changes.h"

namespace harness {

const std::vector<Change>& changes() {
  // clang-format off
  static const std::vector<Change> all = {
      {.name = "unchanged", .title = "as asked"},
      {.name = "more_threads", .against = "unchanged", .resource = "loader threads",
       .title = "twice the loader threads", .next = "more loader threads (loader_threads)",
       .factor = 2, .for_good = true},
      {.name = "fewer_threads", .against = "unchanged", .title = "half the loader threads"},
      {.name = "more_cores", .against = "unchanged", .resource = "cores",
       .title = "twice the cores and loader threads", .next = "more cores for the loader",
       .factor = 2, .for_good = true,
       .includes = {"more_threads"}},
      {.name = "fewer_cores", .against = "unchanged", .title = "half the cores"},
      {.name = "in_memory", .against = "unchanged", .resource = "storage", .title = "storage in memory",
       .next = "faster storage or a copy in memory: storage tmpfs, a packed format, more memory",
       .for_good = true},
      {.name = "no_decoding", .against = "in_memory", .resource = "decoding",
       .title = "raw pixels in memory, nothing to decode",
       .next = "storage raw, smaller files, or more cores for decoding"},
      {.name = "made_up", .against = "no_decoding", .resource = "loader", .title = "made-up batches, no loader",
       .next = "less work per image in the loader: batch_format uint8",
       .includes = {"more_threads", "more_cores", "in_memory", "no_decoding"}},
      {.name = "smaller_copies", .against = "unchanged", .resource = "copies to the device",
       .title = "batches of a quarter of the bytes", .next = "batch_format uint8",
       .factor = 4, .for_good = true},
      {.name = "no_host_work", .against = "unchanged", .resource = "host work",
       .title = "without the host's added work", .next = "take the work out of the training thread",
       .for_good = true},
      {.name = "no_launches", .against = "unchanged", .resource = "kernel launches",
       .title = "kernel launches that cost no host time",
       .next = "fewer, larger kernels: CUDA graphs, a larger batch", .for_good = true},
      {.name = "timed_device", .against = "unchanged", .resource = "cores shared with the device",
       .title = "computing as timed waits of the same length",
       .next = "cores that the device does not share with the loader"},
      {.name = "faster_device", .against = "timed_device", .resource = "device",
       .title = "a device that computes twice as fast", .next = "a faster device, or 16-bit precision",
       .factor = 2, .for_good = true},
      {.name = "faster_peers", .against = "unchanged", .resource = "links between devices",
       .title = "four times the rate between devices of a node", .next = "a faster interconnect within the node",
       .factor = 4},
      {.name = "faster_link", .against = "unchanged", .resource = "link between nodes",
       .title = "a faster link between nodes",
       .next = "a faster network, compression bf16, or a larger batch per rank", .for_good = true},
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

}  // namespace harness
