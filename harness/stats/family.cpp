// Decides from a row's fields and ceilings whether device, loader, storage, processor or link limits it.
#include "harness/stats/family.h"

#include "harness/experiment/policy/policy.h"

namespace harness {
namespace {

// A ceiling is of a few batches, so the runs' mean is compared.
bool loader_is_near(const RecordList& runs) {
  double loader = 0, compute = 0;
  for (const Record* run : runs) {
    if (!run->ceilings || !run->ceilings->loader_ms || !run->ceilings->compute_ms) return true;
    loader += *run->ceilings->loader_ms;
    compute += *run->ceilings->compute_ms;
  }
  return loader * kLoaderIsFar > compute;
}

}  // namespace

const char* text_of(Family family) {
  switch (family) {
    case Family::modelled:
      return "device-bound";
    case Family::ranks:
      return "rank-bound";
    case Family::loader:
      return "loader-bound";
    case Family::processor:
      return "processor-bound";
    case Family::storage:
      return "storage-bound";
    case Family::link:
      return "link-bound";
    case Family::started:
      return "started (timed from the first batch on)";
  }
  return "";
}

Family family_of(const RecordList& runs) {
  const Record& run = *runs.front();
  const Row& row = run.config;
  if (row.nodes > 1) return Family::link;
  if (row.read_rate > 0 || row.read_latency_ms > 0) return Family::modelled;
  if (run.object_store || cache_state(run) == "cold") return Family::storage;
  if (run.device.kind == "cpu") return Family::processor;
  if (row.storage != "synthetic" && loader_is_near(runs)) return Family::loader;
  if (row.warmup_batches == 0) return Family::started;
  return run.world_size > 1 ? Family::ranks : Family::modelled;
}

}  // namespace harness
