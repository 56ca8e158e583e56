// Rules against settings that are valid alone but not together in one row.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/config/config.h"
#include "harness/config/row_traits.h"
#include "harness/contract/emulated_device.h"

namespace harness {

namespace {

// One row's rules by subject; each throws ConfigError at the first that the row breaks.
class RowRules {
 public:
  RowRules(const Row& row, const Origin& origin, const AxisValues& values)
      : row_(row),
        origin_(origin),
        values_(values),
        replicas_(all_devices(row)),
        several_(
            trait(values, "strategy", row.strategy, &Traits::several_devices, row.strategy != "single")) {}

  void devices_and_links() const {
    if (!several_ && replicas_ > 1)
      refuse("strategy " + row_.strategy + " uses one device", "devices: 1 and nodes: 1",
             fmt::format("{} x {}", row_.nodes, row_.devices), "choose another strategy, e.g. ddp");
    if (!several_ && row_.sync_bn)
      refuse("sync_bn joins several ranks", "sync_bn: false", "strategy " + row_.strategy,
             "choose another strategy, e.g. ddp");
    if (row_.batch < replicas_)
      refuse("the batch is smaller than the number of devices", fmt::format("at least {}", replicas_),
             fmt::format("{} as run", row_.batch), "use a larger batch or fewer devices");
    if (row_.nodes > 1 && row_.link == "none")
      refuse("several nodes need a link", "a link such as ethernet", "link none");
    if (row_.nodes == 1 && row_.link != "none" && row_.link != "loopback")
      refuse("a link joins several nodes", "link: none", "link " + row_.link + " with one node");
  }

  void model() const {
    const bool has_batch_norm = trait(values_, "model", row_.model, &Traits::batch_norm, true);
    if (row_.sync_bn && !has_batch_norm)
      refuse("model " + row_.model + " has no batch norm to synchronise", "sync_bn: false", "sync_bn: true",
             "choose model resnet18 or resnet50");
    if (row_.sync_bn && row_.dropout > 0)
      refuse("the check of sync_bn's gradients compares ranks with one device, and each would drop others",
             "dropout: 0", fmt::format("{:g}", row_.dropout));
    const AxisValue* model = find_value(values_, "model", row_.model);
    if (const int64_t patch = model ? model->traits.patch_px.value_or(1) : 1; row_.image_px % patch != 0)
      refuse(fmt::format("model {} divides images into patches of {} px", row_.model, patch),
             fmt::format("an image_px that is a multiple of {}", patch),
             fmt::format("image_px {}", row_.image_px),
             fmt::format("--set image_px={}", std::max(patch, row_.image_px / patch * patch)));
    if (row_.sync_bn && row_.precision == "o3")
      refuse("sync_bn keeps its statistics in float32", "precision: o0, o1, o2 or bf16", "precision o3",
             "set another precision, or sync_bn: false");
  }

  void accumulation() const {
    if (row_.accumulation > 1) {
      if (row_.batch % (replicas_ * row_.accumulation) != 0)
        refuse("every micro-batch has the same number of images on every device",
               fmt::format("a batch that {} devices x {} micro-batches share evenly", replicas_,
                           row_.accumulation),
               fmt::format("{} as run", row_.batch), "choose another batch or accumulation");
      if (row_.strategy == "apex" || row_.strategy == "horovod")
        refuse("strategy " + row_.strategy + " reduces after every backward pass", "accumulation: 1",
               fmt::format("accumulation {}", row_.accumulation),
               "use strategy single, data_parallel or ddp");
    } else if (row_.sync_every_micro_batch) {
      refuse("sync_every_micro_batch needs micro-batches", "accumulation: 2 or more", "accumulation 1");
    }
  }

  void stages() const {
    const AxisValue* strategy = find_value(values_, "strategy", row_.strategy);
    const int64_t stages = strategy ? strategy->traits.stages.value_or(1) : 1,
                  parts = row_.pipeline_micro_batches;
    if (row_.devices % stages != 0)
      refuse(
          fmt::format("strategy {} divides each copy of the network among {} devices", row_.strategy, stages),
          fmt::format("a number of devices that is a multiple of {}", stages),
          fmt::format("devices {}", row_.devices), fmt::format("--set devices={}", stages));
    if (stages == 1 && parts > 1)
      refuse("strategy " + row_.strategy + " has no stages for micro-batches to pass through",
             "pipeline_micro_batches: 1", fmt::format("pipeline_micro_batches {}", parts),
             "use strategy split_model; for larger batches than memory holds, accumulation");
    const int64_t copies = row_.devices / stages * row_.accumulation;
    if (parts > 1 && row_.batch % (copies * parts) != 0)
      refuse("every micro-batch has the same number of images",
             fmt::format("a batch that {} micro-batches share evenly", copies * parts),
             fmt::format("{} as run", row_.batch), "choose another batch or pipeline_micro_batches");
  }

  // bench/twin does in Python what train_slice does on one device without a loader.
  void engine() const {
    if (row_.engine == "libtorch") return;
    using Values = std::vector<std::string>;
    static const std::vector<std::pair<std::string, Values>> choices = {
        {"device", {"cpu", "cuda"}}, {"strategy", {"single"}}, {"storage", {"synthetic"}},
        {"model", {"resnet18"}},     {"optimizer", {"sgd"}},   {"precision", {"o0", "o3", "bf16"}}};
    const auto require = [&](const std::string& field, const Values& values) {
      this->require("engine " + row_.engine, field, values, "engine=libtorch");
    };
    for (const auto& [field, values] : choices) require(field, values);
    for (const char* field :
         {"loader", "dropout", "accumulation", "learning_rate_schedule", "learning_rate_warmup", "part",
          "validation", "needless", "retain_graph", "fused_batch_norm", "byte_pool_indices", "decoder",
          "pin_thread", "gpu_sampling_ms"})
      require(field, {field_text(Row(), field)});
    if (row_.engine == "pytorch_compiled") require("cuda_graphs", {"false"});  // its mode makes its own
  }

  // Another program reads the data set's files at its own speed; what it reads and where it stores copies
  // isn't known.
  void loader() const {
    if (!has_external_loader(row_)) {
      if (!row_.command.empty())
        refuse("command starts an external loader", "loader: external", "loader " + row_.loader);
      return;
    }
    const std::string loader = "loader " + row_.loader;
    if (row_.command.empty())
      refuse(loader + " needs a program", "a command such as `python my_loader.py`", "no command",
             "docs/loaders.md describes adapters");
    if (row_.loader_threads == 0)
      refuse(loader + " never loads in the training thread", "loader_threads: 1 or more", "0");
    const auto require = [&](const std::string& field, const std::vector<std::string>& values) {
      this->require(loader, field, values, "loader=suite");
    };
    require("storage", {"files"});
    require("cache", {"warm", "as_is"});
    for (const char* field :
         {"handing_over", "pin_loader_threads", "decoder", "pin_thread", "read_rate", "read_latency_ms"})
      require(field, {field_text(Row(), field)});
    require("part", row_.loader == "external" ? std::vector<std::string>{"all", "loading"}
                                              : std::vector<std::string>{"loading"});
    if (row_.device_file.empty()) return;
    require("core_images_per_s", {"0.0"});
    require("time_scale", {"1.0"});
  }

  void recorded_graphs() const {
    if (!row_.cuda_graphs) return;
    if (row_.accumulation > 1)
      refuse("cuda_graphs record a step of one micro-batch", "accumulation: 1",
             fmt::format("accumulation {}", row_.accumulation), "set one of the two");
    if (row_.needless != "none" || row_.retain_graph)
      refuse("cuda_graphs record a step in which the host does nothing else",
             "needless: none, retain_graph: false",
             fmt::format("needless {}, retain_graph {}", row_.needless, row_.retain_graph),
             "set cuda_graphs: false");
    if (several_)
      refuse("cuda_graphs record the step of one device", "strategy: single", "strategy " + row_.strategy,
             "set cuda_graphs: false");
    if (row_.learning_rate_schedule != "constant" || row_.learning_rate_warmup > 0)
      refuse("cuda_graphs record a step with its learning rate",
             "learning_rate_schedule: constant, learning_rate_warmup: 0",
             fmt::format("learning_rate_schedule {}, learning_rate_warmup {}", row_.learning_rate_schedule,
                         row_.learning_rate_warmup),
             "set cuda_graphs: false");
    if (!row_.fused_sgd)
      refuse("cuda_graphs record a step in which the host reads nothing", "fused_sgd: true",
             "fused_sgd: false", "set one of the two");
  }

  void fused_layers() const {
    const bool has_batch_norm = trait(values_, "model", row_.model, &Traits::batch_norm, true);
    for (const auto& [field, on] : {std::pair("fused_batch_norm", row_.fused_batch_norm),
                                    std::pair("byte_pool_indices", row_.byte_pool_indices)}) {
      if (!on) continue;
      const std::string is_on = fmt::format("{}: true", field), off = fmt::format("set {}: false", field);
      if (!has_batch_norm)
        refuse(fmt::format("model {} has no layers for {}", row_.model, field),
               fmt::format("{}: false", field), is_on, "choose a ResNet, or " + off);
      if (!row_.channels_last)
        refuse(fmt::format("{} has kernels for NHWC alone", field), "channels_last: true",
               "channels_last: false", "set channels_last: true, or " + off);
      if (row_.width % 8 != 0)
        refuse(fmt::format("the kernels of {} handle eight channels at a time", field),
               "a width that is a multiple of 8", fmt::format("width {}", row_.width),
               "choose another width, or " + off);
    }
    if (row_.fused_batch_norm && row_.sync_bn)
      refuse("fused_batch_norm takes the statistics of one rank", "sync_bn: false", "sync_bn: true",
             "set one of the two");
  }

  void learning_rate() const {
    const int64_t batches = row_.warmup_batches + row_.timed_batches;
    if (row_.learning_rate_warmup >= batches)
      refuse("the learning rate's warm-up ends before the slice does",
             fmt::format("learning_rate_warmup below {}, the batches of the slice", batches),
             fmt::format("learning_rate_warmup {}", row_.learning_rate_warmup),
             "use a shorter warm-up or more timed_batches");
  }

  void storage() const {
    if (row_.pin_thread && !row_.pinned)
      refuse("pin_thread copies batches into pinned memory", "pinned: true", "pinned: false",
             "set pin_thread: false, or pinned: true");
    const bool on_device = row_.decoder != "cpu";
    if (row_.pin_thread && on_device)
      refuse("decoder " + row_.decoder +
                 " makes batches in device memory, so that there is none to copy in host memory",
             "pin_thread: false", "pin_thread: true", "set decoder: cpu");
    if (row_.cache == "cold" && !has_page_cache(values_, row_.storage))
      refuse("no page cache lies below storage " + row_.storage, "cache: as_is", "cache cold");

    if (shapes_store(row_) && find_value(values_, "storage", row_.storage) &&
        service_of(values_, row_.storage).empty())
      refuse("store_rate_mbit and store_latency_ms shape the link to an object store", "storage: remote",
             "storage " + row_.storage, "choose remote, remote_mounted or remote_cached");
    if (row_.order == "shuffled" && trait(values_, "storage", row_.storage, &Traits::stream, false))
      refuse("storage " + row_.storage + " is read in the order in which it is stored",
             "order: windowed or in_order", "order shuffled");
    if (on_device && row_.needless == "host_copy")
      refuse("decoder " + row_.decoder +
                 " makes batches in device memory, so that there is none to copy in host memory",
             "needless: none", "needless: host_copy", "set decoder: cpu");
    if (on_device && row_.storage == "raw")
      refuse("storage raw has nothing to decode", "decoder: cpu", "decoder " + row_.decoder);
  }

  void device() const {
    if (const AxisValue* backend = find_value(values_, "backend", row_.backend)) {
      const std::string& device = backend->traits.device;
      if (!device.empty() && device != row_.device &&
          backend->missing.empty())  // missing: the row is skipped
        refuse("backend " + row_.backend + " joins devices of another kind", "device: " + device,
               "device " + row_.device, "choose another backend, e.g. gloo");
    }
    if (computes(row_.device, values_) && !row_.device_file.empty())
      refuse("device_file says how long an emulated device takes", "device: emulated",
             "device " + row_.device, "leave device_file out, or add --device emulated");
    if (!computes(row_.device, values_)) emulated_device();
  }

  void emulated_device() const {
    const std::string device = fmt::format("device {} computes no values: ", row_.device);
    if (row_.validation)
      refuse(device + "there is no accuracy to measure", "device: cpu or cuda", "validation: true",
             "measure accuracy on a real device");
    if (row_.host_work_ms > 0)
      refuse("host_work_ms is not modelled on device " + row_.device, "host_work_ms: 0",
             fmt::format("{:g}", row_.host_work_ms), "use device cpu or cuda");
    if (!row_.fused_sgd)
      refuse("fused_sgd: false is not modelled on device " + row_.device, "fused_sgd: true",
             "fused_sgd: false", "use device cpu or cuda");
    if (row_.devices > kMostEmulatedDevices &&
        !trait(values_, "strategy", row_.strategy, &Traits::process_per_device, false))
      refuse("one process emulates so many devices", fmt::format("at most {}", kMostEmulatedDevices),
             fmt::format("devices {}", row_.devices), "use a strategy with a process per device, e.g. ddp");
    if (row_.cuda_graphs)
      refuse(device + "there are no CUDA graphs", "cuda_graphs: false", "cuda_graphs: true",
             "use device cuda");
  }

  void collectives() const {
    if (!row_.collectives && row_.strategy == "horovod")
      refuse("the ranks of strategy horovod negotiate all the time, through collectives", "collectives: true",
             "collectives: false", "use strategy ddp or apex");
    if (!row_.collectives && row_.validation)
      refuse("without collectives each rank trains a network for itself", "collectives: true",
             "collectives: false", "set validation: false");
    if (row_.strategy == "horovod" && row_.backend == "nccl")
      refuse("strategy horovod negotiates in host memory", "backend: mpi or gloo", "backend nccl");
  }

  void validation() const {
    if (row_.validation && !trains(row_))
      refuse("nothing is trained in part " + row_.part + " of the work", "part: all", "part: " + row_.part,
             "set validation: false");
    if (row_.validation && row_.strategy != "single")
      refuse("validation is done by one device", "strategy: single", "strategy " + row_.strategy,
             "measure accuracy with strategy single, or set validation: false");
    if (row_.validation && row_.storage == "synthetic")
      refuse("nothing can be learned from storage synthetic", "a storage of images", "validation: true");
  }

  void processes() const {
    const bool processes = trait(values_, "strategy", row_.strategy, &Traits::process_per_device, false);
    if (!processes && row_.nodes > 1)
      refuse("strategy " + row_.strategy + " stays within one process", "nodes: 1",
             fmt::format("nodes {}", row_.nodes), "choose a strategy with one process per device, e.g. ddp");
    if (!processes && row_.sync_bn)
      refuse("sync_bn joins the ranks of several processes", "sync_bn: false", "strategy " + row_.strategy);
    if (!processes && row_.backend != "none")
      refuse("strategy " + row_.strategy + " has no collectives", "backend: none", "backend " + row_.backend);
    if (!processes && !row_.collectives)
      refuse("strategy " + row_.strategy + " has no collectives to leave out", "collectives: true",
             "collectives: false");
    if (processes && row_.backend == "none")
      refuse("strategy " + row_.strategy + " needs collectives", "a backend such as gloo", "backend none");
    if (processes && row_.batch % replicas_ != 0)
      refuse("every rank gets the same number of images",
             fmt::format("a batch that {} ranks can share evenly", replicas_),
             fmt::format("{} as run", row_.batch));
  }

 private:
  void require(const std::string& who, const std::string& field, const std::vector<std::string>& values,
               const std::string& otherwise) const {
    const std::string found = field_text(row_, field);
    if (std::ranges::find(values, found) == values.end())
      refuse(fmt::format("{} has no such {}", who, field),
             fmt::format("{}: {}", field, fmt::join(values, " or ")), fmt::format("{} {}", field, found),
             fmt::format("set {}={}, or {}", field, values[0], otherwise));
  }

  [[noreturn]] void refuse(const std::string& rule, const std::string& expected, const std::string& found,
                           const std::string& next_step = "") const {
    throw ConfigError(origin_, fmt::format("row {}: {}", in_quotes(row_.id), rule), expected, found,
                      next_step);
  }

  const Row& row_;
  const Origin& origin_;
  const AxisValues& values_;
  const int64_t replicas_;
  const bool several_;
};

}  // namespace

// Traits state what a value supports. The names in these rules count only when train_slice isn't built, so
// that no traits are known.
void check_combination(const Row& row, const Origin& origin, const AxisValues& values) {
  if (!row.skip.empty()) return;  // it never runs
  const RowRules rules(row, origin, values);
  rules.devices_and_links();
  rules.model();
  rules.accumulation();
  rules.stages();
  rules.engine();
  rules.loader();
  rules.recorded_graphs();
  rules.fused_layers();
  rules.learning_rate();
  rules.storage();
  rules.device();
  rules.collectives();
  rules.validation();
  if (find_value(values, "strategy", row.strategy)) rules.processes();
}

}  // namespace harness
