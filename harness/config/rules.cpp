// Rules against settings that are valid alone but not together in one row.
#include <fmt/format.h>

#include "harness/config/config.h"
#include "harness/config/row_traits.h"
#include "harness/contract/emulated_device.h"

namespace harness {

void check_combination(const Row& row, const Origin& origin, const AxisValues& values) {
  if (!row.skip.empty()) return;  // it never runs
  auto refuse = [&](const std::string& rule, const std::string& expected, const std::string& found,
                    const std::string& next_step = "") {
    throw ConfigError(origin, fmt::format("row {}: {}", in_quotes(row.id), rule), expected, found, next_step);
  };
  const int64_t replicas = all_devices(row);

  // Traits state what a value supports. The names below count only when train_slice isn't built, so that no
  // traits are known.
  const bool several =
      trait(values, "strategy", row.strategy, &Traits::several_devices, row.strategy != "single");
  if (!several && replicas > 1)
    refuse("strategy " + row.strategy + " uses one device", "devices: 1 and nodes: 1",
           fmt::format("{} x {}", row.nodes, row.devices), "choose another strategy, e.g. ddp");
  if (!several && row.sync_bn)
    refuse("sync_bn joins several ranks", "sync_bn: false", "strategy " + row.strategy,
           "choose another strategy, e.g. ddp");
  if (row.batch < replicas)
    refuse("the batch is smaller than the number of devices", fmt::format("at least {}", replicas),
           fmt::format("{} as run", row.batch), "use a larger batch or fewer devices");
  if (row.nodes > 1 && row.link == "none")
    refuse("several nodes need a link", "a link such as ethernet", "link none");
  if (row.nodes == 1 && row.link != "none" && row.link != "loopback")
    refuse("a link joins several nodes", "link: none", "link " + row.link + " with one node");

  const bool has_batch_norm = trait(values, "model", row.model, &Traits::batch_norm, true);
  if (row.sync_bn && !has_batch_norm)
    refuse("model " + row.model + " has no batch norm to synchronise", "sync_bn: false", "sync_bn: true",
           "choose model resnet18 or resnet50");
  if (row.sync_bn && row.dropout > 0)
    refuse("the check of sync_bn's gradients compares ranks with one device, and each would drop others",
           "dropout: 0", fmt::format("{:g}", row.dropout));
  if (row.accumulation > 1) {
    if (row.batch % (replicas * row.accumulation) != 0)
      refuse(
          "every micro-batch has the same number of images on every device",
          fmt::format("a batch that {} devices x {} micro-batches share evenly", replicas, row.accumulation),
          fmt::format("{} as run", row.batch), "choose another batch or accumulation");
    if (row.strategy == "apex" || row.strategy == "horovod")
      refuse("strategy " + row.strategy + " reduces after every backward pass", "accumulation: 1",
             fmt::format("accumulation {}", row.accumulation), "use strategy single, data_parallel or ddp");
    if (row.cuda_graphs)
      refuse("cuda_graphs record a step of one micro-batch", "accumulation: 1",
             fmt::format("accumulation {}", row.accumulation), "set one of the two");
  } else if (row.sync_every_micro_batch) {
    refuse("sync_every_micro_batch needs micro-batches", "accumulation: 2 or more", "accumulation 1");
  }

  if (row.cuda_graphs && (row.needless != "none" || row.retain_graph))
    refuse("cuda_graphs record a step in which the host does nothing else",
           "needless: none, retain_graph: false",
           fmt::format("needless {}, retain_graph {}", row.needless, row.retain_graph),
           "set cuda_graphs: false");

  if (row.cache == "cold" && !has_page_cache(values, row.storage))
    refuse("no page cache lies below storage " + row.storage, "cache: as_is", "cache cold");

  if (shapes_store(row) && find_value(values, "storage", row.storage) &&
      service_of(values, row.storage).empty())
    refuse("store_rate_mbit and store_latency_ms shape the link to an object store", "storage: remote",
           "storage " + row.storage, "choose remote, remote_mounted or remote_cached");
  if (row.order == "shuffled" && trait(values, "storage", row.storage, &Traits::stream, false))
    refuse("storage " + row.storage + " is read in the order in which it is stored",
           "order: windowed or in_order", "order shuffled");

  if (const AxisValue* backend = find_value(values, "backend", row.backend)) {
    const std::string& device = backend->traits.device;
    if (!device.empty() && device != row.device && backend->missing.empty())  // missing: the row is skipped
      refuse("backend " + row.backend + " joins devices of another kind", "device: " + device,
             "device " + row.device, "choose another backend, e.g. gloo");
  }
  if (computes(row.device, values) && !row.device_file.empty())
    refuse("device_file says how long an emulated device takes", "device: emulated", "device " + row.device,
           "leave device_file out, or add --device emulated");
  if (!computes(row.device, values)) {
    const std::string device = fmt::format("device {} computes no values: ", row.device);
    if (row.validation)
      refuse(device + "there is no accuracy to measure", "device: cpu or cuda", "validation: true",
             "measure accuracy on a real device");
    if (row.host_work_ms > 0)
      refuse("host_work_ms is not modelled on device " + row.device, "host_work_ms: 0",
             fmt::format("{:g}", row.host_work_ms), "use device cpu or cuda");
    if (!row.fused_sgd)
      refuse("fused_sgd: false is not modelled on device " + row.device, "fused_sgd: true",
             "fused_sgd: false", "use device cpu or cuda");
    if (row.devices > kMostEmulatedDevices &&
        !trait(values, "strategy", row.strategy, &Traits::process_per_device, false))
      refuse("one process emulates so many devices", fmt::format("at most {}", kMostEmulatedDevices),
             fmt::format("devices {}", row.devices), "use a strategy with a process per device, e.g. ddp");
    if (row.needless == "empty_cache")
      refuse(device + "its memory has no cache to empty", "needless: none", "needless empty_cache",
             "use device cpu or cuda");
    if (row.cuda_graphs)
      refuse(device + "there are no CUDA graphs", "cuda_graphs: false", "cuda_graphs: true",
             "use device cuda");
  }
  if (!row.collectives && row.strategy == "horovod")
    refuse("the ranks of strategy horovod negotiate all the time, through collectives", "collectives: true",
           "collectives: false", "use strategy ddp or apex");
  if (!row.collectives && row.validation)
    refuse("without collectives each rank trains a network for itself", "collectives: true",
           "collectives: false", "set validation: false");
  if (row.strategy == "horovod" && row.backend == "nccl")
    refuse("strategy horovod negotiates in host memory", "backend: mpi or gloo", "backend nccl");
  if (row.sync_bn && row.precision == "o3")
    refuse("sync_bn keeps its statistics in float32", "precision: o0, o1, o2 or bf16", "precision o3",
           "set another precision, or sync_bn: false");
  if (several && row.cuda_graphs)
    refuse("cuda_graphs record the step of one device", "strategy: single", "strategy " + row.strategy,
           "set cuda_graphs: false");
  if (row.cuda_graphs && !row.fused_sgd)
    refuse("cuda_graphs record a step in which the host reads nothing", "fused_sgd: true", "fused_sgd: false",
           "set one of the two");

  if (row.decoder == "nvjpeg" && row.storage == "raw")
    refuse("storage raw has nothing to decode", "decoder: cpu", "decoder nvjpeg");

  if (row.validation && row.strategy != "single")
    refuse("validation is done by one device", "strategy: single", "strategy " + row.strategy,
           "measure accuracy with strategy single, or set validation: false");
  if (row.validation && row.storage == "synthetic")
    refuse("nothing can be learned from storage synthetic", "a storage of images", "validation: true");

  if (!find_value(values, "strategy", row.strategy)) return;  // train_slice isn't built: traits are unknown
  bool processes = trait(values, "strategy", row.strategy, &Traits::process_per_device, false);
  if (!processes && row.nodes > 1)
    refuse("strategy " + row.strategy + " stays within one process", "nodes: 1",
           fmt::format("nodes {}", row.nodes), "choose a strategy with one process per device, e.g. ddp");
  if (!processes && row.sync_bn)
    refuse("sync_bn joins the ranks of several processes", "sync_bn: false", "strategy " + row.strategy);
  if (!processes && row.backend != "none")
    refuse("strategy " + row.strategy + " has no collectives", "backend: none", "backend " + row.backend);
  if (!processes && !row.collectives)
    refuse("strategy " + row.strategy + " has no collectives to leave out", "collectives: true",
           "collectives: false");
  if (processes && row.backend == "none")
    refuse("strategy " + row.strategy + " needs collectives", "a backend such as gloo", "backend none");
  if (processes && row.batch % replicas != 0)
    refuse("every rank gets the same number of images",
           fmt::format("a batch that {} ranks can share evenly", replicas),
           fmt::format("{} as run", row.batch));
}

}  // namespace harness
