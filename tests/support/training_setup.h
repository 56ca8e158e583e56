// Shared by the training tests: a row small enough to run in milliseconds, and its parts.
#pragma once
#include <ATen/Parallel.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "bench/train/checks.h"
#include "bench/train/slice.h"
#include "bench/train/strategy/sync_batch_norm.h"

namespace bench {

inline harness::Row tiny_row(const std::string& strategy = "single", int64_t devices = 1,
                             const std::string& precision = "o0") {
  harness::Row row;
  row.id = "test";
  row.strategy = strategy;
  row.devices = devices;
  row.precision = precision;
  row.storage = "synthetic";
  row.width = 4;
  row.image_px = 32;
  row.classes = 10;
  row.batch = 8 * devices;
  row.warmup_batches = 2;
  row.timed_batches = 5;
  row.learning_rate = 0.05;
  return row;
}

// Everything that run_slice needs, for one rank.
struct TinyRank {
  TinyRank(const harness::Row& the_row, const RankInfo& the_rank = {}) : row(the_row), rank(the_rank) {
    const int64_t batch = row.batch / rank.world_size;
    StorageOptions storage_options;
    storage_options.dataset.images.resize(size_t(row.batch));
    storage = StorageRegistry::instance().find(row.storage)(storage_options);
    LoaderOptions load;
    load.batch_size = batch;
    load.image_px = row.image_px;
    load.classes = row.classes;
    load.ring_depth = int(row.ring_depth);
    load.sampler.records = row.batch;
    load.sampler.rank = rank.rank;
    load.sampler.world_size = rank.world_size;
    loader = make_loader(*storage, load);
    device = DeviceRegistry::instance().find("cpu")(
        {.row = row, .batch_size = batch, .local_rank = rank.local_rank});
    model = make_model(row);
    precision = PrecisionRegistry::instance().find(row.precision)({at::kCPU, row});
    precision->convert(*model);
    link = LinkRegistry::instance().find("none")({});
    group = GroupRegistry::instance().find(row.backend)({rank, link->interface});
    if (row.sync_bn) {
      sync_bn = std::make_unique<SyncBatchNorm>(group->process_group(), model->batch_norm_names(), spans);
      model->replace_batch_norm(sync_bn.get());
    }
    strategy = StrategyRegistry::instance().find(row.strategy)({row, *model, *precision, *device, *group});
  }
  SliceParts parts() { return parts_with(*loader, *strategy); }
  SliceParts parts_with(Loader& other_loader, Strategy& other_strategy) {
    return {row, other_loader, *device, *model, *precision, other_strategy, *group, *link, spans, slot};
  }

  harness::Row row;
  RankInfo rank;
  harness::ProgressSlot slot{};
  std::unique_ptr<Storage> storage;
  std::unique_ptr<Loader> loader;
  std::unique_ptr<Device> device;
  std::unique_ptr<Model> model;
  std::unique_ptr<Precision> precision;
  std::optional<Link> link;
  std::unique_ptr<Group> group;
  Spans spans;
  std::unique_ptr<SyncBatchNorm> sync_bn;
  std::unique_ptr<Strategy> strategy;
};

}  // namespace bench
