// Rules against settings that are valid alone but not together in one row.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/config/config.h"
#include "harness/config/row_traits.h"
#include "harness/contract/emulated_device.h"

namespace harness {

namespace {

// The words of the error where it is broken.
struct Rule {
  bool is_broken;
  std::string rule, expected, found, next_step = "";
};

// One row's rules by subject; each throws ConfigError at the first that the row breaks.
class RowRules {
 public:
  RowRules(const Row& row, const Origin& origin, const AxisValues& values)
      : row_(row),
        origin_(origin),
        values_(values),
        replicas_(all_devices(row)),
        strategy_("strategy " + row.strategy),
        several_(trait(values, "strategy", row.strategy, &Traits::several_devices, row.strategy != "single")),
        processes_(trait(values, "strategy", row.strategy, &Traits::process_per_device, false)),
        batch_norm_(trait(values, "model", row.model, &Traits::batch_norm, true)) {}

  void devices_and_model() const {
    const int64_t patch = trait(values_, "model", row_.model, &Traits::patch_px, 1);
    check({
        {!several_ && replicas_ > 1, strategy_ + " uses one device", "devices: 1 and nodes: 1",
         fmt::format("{} x {}", row_.nodes, row_.devices), "choose another strategy, e.g. ddp"},
        {!several_ && row_.sync_bn, "sync_bn joins several ranks", "sync_bn: false", strategy_,
         "choose another strategy, e.g. ddp"},
        {row_.batch < replicas_, "the batch is smaller than the number of devices",
         fmt::format("at least {}", replicas_), batch_as_run(), "use a larger batch or fewer devices"},
        {row_.nodes > 1 && row_.link == "none", "several nodes need a link", "a link such as ethernet",
         "link none"},
        {row_.nodes == 1 && row_.link != "none" && row_.link != "loopback", "a link joins several nodes",
         "link: none", found("link") + " with one node"},
        {row_.sync_bn && !batch_norm_, "model " + row_.model + " has no batch norm to synchronise",
         "sync_bn: false", "sync_bn: true", "choose model resnet18 or resnet50"},
        {row_.sync_bn && row_.dropout > 0,
         "the check of sync_bn's gradients compares ranks with one device, and each would drop others",
         "dropout: 0", fmt::format("{:g}", row_.dropout)},
        {row_.image_px % patch != 0,
         fmt::format("model {} divides images into patches of {} px", row_.model, patch),
         fmt::format("an image_px that is a multiple of {}", patch), found("image_px"),
         fmt::format("--set image_px={}", std::max(patch, row_.image_px / patch * patch))},
        {row_.sync_bn && row_.precision == "o3", "sync_bn keeps its statistics in float32",
         "precision: o0, o1, o2 or bf16", "precision o3", "set another precision, or sync_bn: false"},
    });
  }

  void micro_batches() const {
    const int64_t stages = trait(values_, "strategy", row_.strategy, &Traits::stages, 1),
                  parts = row_.pipeline_micro_batches;
    check({
        {row_.accumulation > 1 && row_.batch % (replicas_ * row_.accumulation) != 0,
         "every micro-batch has the same number of images on every device",
         fmt::format("a batch that {} devices x {} micro-batches share evenly", replicas_, row_.accumulation),
         batch_as_run(), "choose another batch or accumulation"},
        {row_.accumulation > 1 && (row_.strategy == "apex" || row_.strategy == "horovod"),
         strategy_ + " reduces after every backward pass", "accumulation: 1", found("accumulation"),
         "use strategy single, data_parallel or ddp"},
        {row_.accumulation <= 1 && row_.sync_every_micro_batch, "sync_every_micro_batch needs micro-batches",
         "accumulation: 2 or more", "accumulation 1"},
        {row_.devices % stages != 0,
         fmt::format("{} divides each copy of the network among {} devices", strategy_, stages),
         fmt::format("a number of devices that is a multiple of {}", stages), found("devices"),
         fmt::format("--set devices={}", stages)},
        {stages == 1 && parts > 1, strategy_ + " has no stages for micro-batches to pass through",
         "pipeline_micro_batches: 1", found("pipeline_micro_batches"),
         "use strategy split_model; for larger batches than memory holds, accumulation"},
    });
    const int64_t shares = row_.devices / stages * row_.accumulation * parts;
    check({{parts > 1 && row_.batch % shares != 0, "every micro-batch has the same number of images",
            fmt::format("a batch that {} micro-batches share evenly", shares), batch_as_run(),
            "choose another batch or pipeline_micro_batches"}});
  }

  // bench/twin does in Python what train_slice does on one device without a loader.
  void engine() const {
    if (row_.engine == "libtorch") return;
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
    const bool external = has_external_loader(row_);
    const std::string loader = found("loader");
    check({
        {!external && !row_.command.empty(), "command starts an external loader", "loader: external", loader},
        {external && row_.command.empty(), loader + " needs a program",
         "a command such as `python my_loader.py`", "no command", "docs/loaders.md describes adapters"},
        {external && row_.loader_threads == 0, loader + " never loads in the training thread",
         "loader_threads: 1 or more", "0"},
    });
    if (!external) return;
    const auto require = [&](const std::string& field, const Values& values) {
      this->require(loader, field, values, "loader=suite");
    };
    require("storage", {"files"});
    require("cache", {"warm", "as_is"});
    for (const char* field :
         {"handing_over", "pin_loader_threads", "decoder", "pin_thread", "read_rate", "read_latency_ms"})
      require(field, {field_text(Row(), field)});
    require("part", row_.loader == "external" ? Values{"all", "loading"} : Values{"loading"});
    if (row_.device_file.empty()) return;
    require("core_images_per_s", {"0.0"});
    require("time_scale", {"1.0"});
  }

  void recorded_graphs() const {
    if (!row_.cuda_graphs) return;
    check({
        {row_.accumulation > 1, "cuda_graphs record a step of one micro-batch", "accumulation: 1",
         found("accumulation"), "set one of the two"},
        {row_.needless != "none" || row_.retain_graph,
         "cuda_graphs record a step in which the host does nothing else",
         "needless: none, retain_graph: false", found("needless") + ", " + found("retain_graph"),
         "set cuda_graphs: false"},
        {several_, "cuda_graphs record the step of one device", "strategy: single", strategy_,
         "set cuda_graphs: false"},
        {row_.learning_rate_schedule != "constant" || row_.learning_rate_warmup > 0,
         "cuda_graphs record a step with its learning rate",
         "learning_rate_schedule: constant, learning_rate_warmup: 0",
         found("learning_rate_schedule") + ", " + found("learning_rate_warmup"), "set cuda_graphs: false"},
        {!row_.fused_sgd, "cuda_graphs record a step in which the host reads nothing", "fused_sgd: true",
         "fused_sgd: false", "set one of the two"},
    });
  }

  void fused_layers() const {
    for (const auto& [field, on] : {std::pair("fused_batch_norm", row_.fused_batch_norm),
                                    std::pair("byte_pool_indices", row_.byte_pool_indices)}) {
      if (!on) continue;
      const std::string off = fmt::format("{}: false", field);
      check({
          {!batch_norm_, fmt::format("model {} has no layers for {}", row_.model, field), off,
           fmt::format("{}: true", field), "choose a ResNet, or set " + off},
          {!row_.channels_last, fmt::format("{} has kernels for NHWC alone", field), "channels_last: true",
           "channels_last: false", "set channels_last: true, or set " + off},
          {row_.width % 8 != 0, fmt::format("the kernels of {} handle eight channels at a time", field),
           "a width that is a multiple of 8", found("width"), "choose another width, or set " + off},
      });
    }
    check({
        {row_.fused_batch_norm && row_.sync_bn, "fused_batch_norm takes the statistics of one rank",
         "sync_bn: false", "sync_bn: true", "set one of the two"},
        {row_.fused_batch_norm && row_.precision == "o3", "fused_batch_norm keeps its statistics in float32",
         "precision: o0, o1, o2 or bf16", "precision o3",
         "set another precision, or fused_batch_norm: false"},
    });
  }

  void learning_rate_and_data() const {
    const int64_t batches = row_.warmup_batches + row_.timed_batches;
    const bool on_device = row_.decoder != "cpu";
    const std::string storage = found("storage"), decoder = found("decoder");
    const std::string none_to_copy =
        decoder + " makes batches in device memory, so that there is none to copy in host memory";
    check({
        {row_.learning_rate_warmup >= batches, "the learning rate's warm-up ends before the slice does",
         fmt::format("learning_rate_warmup below {}, the batches of the slice", batches),
         found("learning_rate_warmup"), "use a shorter warm-up or more timed_batches"},
        {row_.pin_thread && !row_.pinned, "pin_thread copies batches into pinned memory", "pinned: true",
         "pinned: false", "set pin_thread: false, or pinned: true"},
        {row_.pin_thread && on_device, none_to_copy, "pin_thread: false", "pin_thread: true",
         "set decoder: cpu"},
        {row_.cache == "cold" && !has_page_cache(values_, row_.storage),
         "no page cache lies below " + storage, "cache: as_is", "cache cold"},
        {shapes_store(row_) && find_value(values_, "storage", row_.storage) &&
             service_of(values_, row_.storage).empty(),
         "store_rate_mbit and store_latency_ms shape the link to an object store", "storage: remote", storage,
         "choose remote, remote_mounted or remote_cached"},
        {row_.order == "shuffled" && trait(values_, "storage", row_.storage, &Traits::stream, false),
         storage + " is read in the order in which it is stored", "order: windowed or in_order",
         "order shuffled"},
        {on_device && row_.needless == "host_copy", none_to_copy, "needless: none", "needless: host_copy",
         "set decoder: cpu"},
        {on_device && row_.storage == "raw", "storage raw has nothing to decode", "decoder: cpu", decoder},
    });
  }

  void device() const {
    const std::string device = found("device"), computes_no_values = device + " computes no values: ";
    const AxisValue* backend = find_value(values_, "backend", row_.backend);
    const std::string joined = backend ? backend->traits.device : "";
    const bool emulated = !computes(row_.device, values_);
    check({
        // A backend that is missing only makes the row skipped.
        {!joined.empty() && joined != row_.device && backend->missing.empty(),
         found("backend") + " joins devices of another kind", "device: " + joined, device,
         "choose another backend, e.g. gloo"},
        {!emulated && !row_.device_file.empty(), "device_file says how long an emulated device takes",
         "device: emulated", device, "leave device_file out, or add --device emulated"},
        {emulated && row_.validation, computes_no_values + "there is no accuracy to measure",
         "device: cpu or cuda", "validation: true", "measure accuracy on a real device"},
        {emulated && row_.host_work_ms > 0, "host_work_ms is not modelled on " + device, "host_work_ms: 0",
         fmt::format("{:g}", row_.host_work_ms), "use device cpu or cuda"},
        {emulated && !row_.fused_sgd, "fused_sgd: false is not modelled on " + device, "fused_sgd: true",
         "fused_sgd: false", "use device cpu or cuda"},
        {emulated && row_.devices > kMostEmulatedDevices && !processes_,
         "one process emulates so many devices", fmt::format("at most {}", kMostEmulatedDevices),
         found("devices"), "use a strategy with a process per device, e.g. ddp"},
        {emulated && row_.cuda_graphs, computes_no_values + "there are no CUDA graphs", "cuda_graphs: false",
         "cuda_graphs: true", "use device cuda"},
    });
  }

  void collectives_and_validation() const {
    check({
        {!row_.collectives && row_.strategy == "horovod",
         "the ranks of strategy horovod negotiate all the time, through collectives", "collectives: true",
         "collectives: false", "use strategy ddp or apex"},
        {!row_.collectives && row_.validation, "without collectives each rank trains a network for itself",
         "collectives: true", "collectives: false", "set validation: false"},
        {row_.strategy == "horovod" && row_.backend == "nccl", "strategy horovod negotiates in host memory",
         "backend: mpi or gloo", "backend nccl"},
        {row_.validation && !trains(row_), "nothing is trained in part " + row_.part + " of the work",
         "part: all", "part: " + row_.part, "set validation: false"},
        {row_.validation && row_.strategy != "single", "validation is done by one device", "strategy: single",
         strategy_, "measure accuracy with strategy single, or set validation: false"},
        {row_.validation && row_.storage == "synthetic", "nothing can be learned from storage synthetic",
         "a storage of images", "validation: true"},
    });
  }

  void processes() const {
    check({
        {!processes_ && row_.nodes > 1, strategy_ + " stays within one process", "nodes: 1", found("nodes"),
         "choose a strategy with one process per device, e.g. ddp"},
        {!processes_ && row_.sync_bn, "sync_bn joins the ranks of several processes", "sync_bn: false",
         strategy_},
        {!processes_ && row_.backend != "none", strategy_ + " has no collectives", "backend: none",
         found("backend")},
        {!processes_ && !row_.collectives, strategy_ + " has no collectives to leave out",
         "collectives: true", "collectives: false"},
        {processes_ && row_.backend == "none", strategy_ + " needs collectives", "a backend such as gloo",
         "backend none"},
        {processes_ && row_.batch % replicas_ != 0, "every rank gets the same number of images",
         fmt::format("a batch that {} ranks can share evenly", replicas_), batch_as_run()},
    });
  }

 private:
  using Values = std::vector<std::string>;

  std::string found(const char* field) const { return fmt::format("{} {}", field, field_text(row_, field)); }
  std::string batch_as_run() const { return fmt::format("{} as run", row_.batch); }

  void check(std::initializer_list<Rule> rules) const {
    for (const Rule& one : rules)
      if (one.is_broken)
        throw ConfigError(origin_, fmt::format("row {}: {}", in_quotes(row_.id), one.rule), one.expected,
                          one.found, one.next_step);
  }

  void require(const std::string& who, const std::string& field, const Values& values,
               const std::string& otherwise) const {
    const std::string found = field_text(row_, field);
    check({{std::ranges::find(values, found) == values.end(), fmt::format("{} has no such {}", who, field),
            fmt::format("{}: {}", field, fmt::join(values, " or ")), fmt::format("{} {}", field, found),
            fmt::format("set {}={}, or {}", field, values[0], otherwise)}});
  }

  const Row& row_;
  const Origin& origin_;
  const AxisValues& values_;
  const int64_t replicas_;
  const std::string strategy_;
  const bool several_, processes_, batch_norm_;
};

}  // namespace

// Traits state what a value supports. The names in these rules count only when train_slice isn't built, so
// that no traits are known.
void check_combination(const Row& row, const Origin& origin, const AxisValues& values) {
  if (!row.skip.empty()) return;  // it never runs
  const RowRules rules(row, origin, values);
  rules.devices_and_model();
  rules.micro_batches();
  rules.engine();
  rules.loader();
  rules.recorded_graphs();
  rules.fused_layers();
  rules.learning_rate_and_data();
  rules.device();
  rules.collectives_and_validation();
  if (find_value(values, "strategy", row.strategy)) rules.processes();
}

}  // namespace harness
