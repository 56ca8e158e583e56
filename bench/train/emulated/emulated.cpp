// emulated: accelerators whose kernels and copies are timed waits from a device file. Loader, storage,
// processes and threads are real; tensors hold no values, so a row on it has neither loss nor accuracy.
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "bench/train/clock/device_clock.h"
#include "bench/train/device/copies_under_way.h"
#include "bench/train/device/device.h"
#include "bench/train/emulated/memory.h"
#include "bench/train/emulated/network.h"
#include "harness/contract/precision_traits.h"

namespace bench {
namespace {

using namespace emulated;

// Where the computing stream's timeline stood at every boundary.
class EmulatedClock : public DeviceClock {
 public:
  explicit EmulatedClock(size_t marks) : DeviceClock(marks) { marks_.reserve(marks); }

 private:
  void set_mark(size_t) override {
    marks_.push_back(machine().timelines.now(current_device(), current_stream()));
  }
  double milliseconds_after(size_t number) const override {
    return double(marks_[number + 1] - marks_[number]) * 1e-6;
  }
  std::vector<Nanoseconds> marks_;
};

// torch.nn.DataParallel's broadcast and reduction, which NCCL runs over all devices at once; where replicas
// are divided, over those of each stage.
class Exchange : public ReplicaExchange {
 public:
  explicit Exchange(const std::vector<Model*>& models) : models_(models) {
    const auto& parameters = models[0]->parameters();
    for (size_t i = 0; i < parameters.size(); ++i) {
      std::vector<int>& devices = devices_of_[parameters[i].tensor.device().index()];
      if (!devices.empty()) continue;
      for (const Model* model : models) devices.push_back(model->parameters()[i].tensor.device().index());
    }
  }
  void broadcast() override {
    std::vector<at::Tensor> all = models_[0]->parameter_tensors();
    const std::vector<at::Tensor> buffers = models_[0]->buffer_tensors();
    all.insert(all.end(), buffers.begin(), buffers.end());
    run(all);
  }
  void reduce() override {
    run(models_[0]->gradient_tensors());
    for (size_t i = 1; i < models_.size(); ++i) models_[i]->clear_gradients();
  }

 private:
  void run(const std::vector<at::Tensor>& tensors) const {
    if (models_.size() == 1) return;
    std::map<int, double> bytes;
    for (const at::Tensor& tensor : tensors) bytes[tensor.device().index()] += double(tensor.nbytes());
    for (const auto& [device, devices] : devices_of_)
      machine().timelines.together(devices, machine().durations.weights_between_devices(bytes[device]));
  }
  const std::vector<Model*> models_;
  std::map<int, std::vector<int>> devices_of_;  // of all replicas, by the first one's
};

class Emulated : public Device, public Accelerator {
 public:
  explicit Emulated(const DeviceOptions& options) : options_(options), under_way_(options.row.non_blocking) {
    if (!options.emulation) throw std::invalid_argument("device emulated: the job names no device file");
    at::set_num_threads(1);
    Durations durations(*options.emulation, options.row.precision, options.row.model, options.ranks_of_node);
    install(std::make_unique<Machine>(std::move(durations), kMostDevices));
    machine().batch_divisor = options.emulation->batch_divisor;
    machine().activation_bytes = harness::precision_traits(options.row.precision).activation_bytes;
    limit_memory(int64_t(options.emulation->device.memory_gib.value * double(int64_t(1) << 30)));
    machine().wire_divisor = options.emulation->wire_divisor;
    machine().tree = options.emulation->wire == "tree";
    copy_stream_ = options.row.prefetch ? kCopyStream : 0;
    const auto on_device = at::TensorOptions().device(device_);
    images_ = at::empty({options.batch_size, 3, options.row.image_px, options.row.image_px}, on_device);
    labels_ = at::empty({options.batch_size}, on_device.dtype(at::kLong));
    rest_of_batch_ =
        at::empty({int64_t(images_.nbytes()) * (machine().batch_divisor - 1)}, on_device.dtype(at::kByte));
  }
  at::Device torch_device() const override { return device_; }
  std::string name() const override { return options_.emulation->device.name; }
  bool computes() const override { return false; }
  double time_stretch() const override { return options_.emulation->stretch(); }
  Accelerator* accelerator() override { return this; }

  void batch_arrived(const Batch& batch) override {
    machine().timelines.join_host(0, std::chrono::nanoseconds(batch.ready_at.time_since_epoch()).count());
  }
  DeviceBatch copy_batch(const Batch& batch) override {
    Timelines& timelines = machine().timelines;
    // Two buffers: this one is free when the step before the last has ended.
    used_[last_] = timelines.tail(0, 0);
    last_ = 1 - last_;
    timelines.hold_up(0, copy_stream_, used_[last_]);
    const Nanoseconds end = timelines.launch(
        0, copy_stream_, machine().durations.host_to_device(bytes_of(batch), options_.pinned()),
        /*launches=*/2);
    timelines.hold_up(0, 0, end);
    if (!options_.row.non_blocking || !options_.pinned()) timelines.wait(0, end);
    under_way_.add(batch, end);
    std::memcpy(labels_.data_ptr(), batch.labels, labels_.nbytes());
    return {images_, labels_};
  }
  std::optional<Batch> take_copied() override {
    const auto oldest = under_way_.take();
    if (!oldest) return std::nullopt;
    machine().timelines.wait(0, oldest->second);
    return oldest->first;
  }
  void finish_copy() override {
    machine().timelines.wait(0, under_way_.last());
    under_way_.note_synchronised();
  }
  void synchronize() override {
    machine().timelines.wait(0, machine().timelines.tail_of_all(0));
    under_way_.note_synchronised();
  }

  void timing_begins() override {  // the virtual clock joins the real one
    Machine& all = machine();
    all.timelines.begin_again();
    // SyncBN sums two values per channel in each backward pass, as the ranks sum gradients.
    all.order.begin_again(all.weights,
                          options_.row.sync_bn ? 2 * all.batch_norm_channels * options_.row.accumulation : 0,
                          reductions_per_step());
  }
  void batch_ended() override { machine().timelines.next_batch(); }

  at::Device of_replica(int64_t number) const override {
    return {at::kPrivateUse1, c10::DeviceIndex(number)};
  }
  void enter(int64_t number) const override { set_current_device(int(number)); }
  std::unique_ptr<ReplicaExchange> make_exchange(const std::vector<Model*>& models) const override {
    return std::make_unique<Exchange>(models);
  }
  HostAllocator host_allocator() const override { return {}; }
  DeviceDecoding decoding(const std::string&) override { return {}; }
  void use_image_type(at::ScalarType) override {}
  std::unique_ptr<DeviceClock> make_clock(size_t marks) const override {
    return std::make_unique<EmulatedClock>(marks);
  }
  std::unique_ptr<DeviceSampler> make_sampler(double, int64_t) const override { return nullptr; }
  void prepare(Model& model) const override {
    machine().weights = 0;
    for (const NamedTensor& parameter : model.parameters()) machine().weights += parameter.tensor.numel();
    machine().batch_norm_channels = 0;
    for (const NamedTensor& buffer : model.buffers())
      if (buffer.name.ends_with(".running_mean")) machine().batch_norm_channels += buffer.tensor.numel();
    model.replace_forward([layers = layers_of(model, options_.row.image_px)](
                              const Model& network, const at::Tensor& x, const Units& part) {
      return emulated::forward(network, layers, x, part);
    });
  }

  // The host must keep up with its virtual clock: a rank that launches or wakes up late delays what follows.
  std::vector<harness::RecordCheck> checks(double total_s, int64_t batches) const override {
    constexpr double kMostOfBatch = 0.05;
    const Timelines::Lag lag = machine().timelines.lag();
    const double host_ms = double(lag.median) * 1e-6, wire_ms = double(lag.median_uncertain) * 1e-6,
                 batch_ms = total_s * 1e3 / double(batches), lag_ms = std::max(host_ms, wire_ms);
    const bool ok = lag_ms <= kMostOfBatch * batch_ms;
    std::vector<harness::RecordCheck> checks = {
        {"lag", ok,
         fmt::format(
             "{} {:.2f} ms {}, {:.1f} % of a batch, in the median{}",
             host_ms >= wire_ms ? "the host was" : "the arrival of bytes from other nodes is uncertain by",
             lag_ms, host_ms >= wire_ms ? "behind its emulated device" : "a batch", 100 * lag_ms / batch_ms,
             ok ? "" : "; the limit is 5 %: raise time_scale or use fewer devices")}};
    const Machine& all = machine();
    if (!all.several_ranks) return checks;
    const int64_t times = reductions_per_step();
    const std::string disorder = all.order.violation();
    checks.push_back({"schedule", disorder.empty(),
                      disorder.empty()
                          ? fmt::format("{} gradients were reduced {} before each step", all.weights,
                                        times == 1 ? "once" : fmt::format("{} times", times))
                          : disorder});
    return checks;
  }

  nlohmann::json describe() const override {
    const Timelines::Lag lag = machine().timelines.lag();
    std::vector<int64_t> peaks;  // by device
    for (int device = 0; device < kMostDevices && memory_use(device).peak_bytes > 0; ++device)
      peaks.push_back(memory_use(device).peak_bytes);
    return {{"device_file", options_.emulation->device.name},
            {"time_scale", options_.emulation->time_scale},
            {"batch_divisor", options_.emulation->batch_divisor},
            {"lag_median_ms", double(lag.median) * 1e-6},
            {"lag_worst_ms", double(lag.worst) * 1e-6},
            {"uncertain_arrival_median_ms", double(lag.median_uncertain) * 1e-6},
            {"waits", lag.waits},
            {"memory_bytes", int64_t(options_.emulation->device.memory_gib.value * double(int64_t(1) << 30))},
            {"peak_allocated_bytes", peaks.empty() ? 0 : peaks[0]},
            {"peak_allocated_bytes_by_device", peaks}};
  }

 private:
  static constexpr int kCopyStream = 1;
  int64_t reductions_per_step() const {
    return options_.row.sync_every_micro_batch ? options_.row.accumulation : 1;
  }
  double bytes_of(const Batch& batch) const {
    const double bytes_per_value = options_.format() == BatchFormat::uint8 ? 1 : 4;
    return double(batch.size * 3 * options_.row.image_px * options_.row.image_px) * bytes_per_value +
           double(labels_.nbytes());
  }

  const DeviceOptions options_;
  const at::Device device_{at::kPrivateUse1, 0};
  at::Tensor images_, labels_, rest_of_batch_;  // the rest: images of the emulated batch without a tensor
  int copy_stream_ = 0, last_ = 0;
  std::array<Nanoseconds, 2> used_ = {};
  CopiesUnderWay<Nanoseconds> under_way_;
};

const bool registered_device_emulated = DeviceRegistry::instance().add(
    {"device",
     "emulated",
     "accelerators whose kernels and copies are timed waits from configs/devices/*.yaml",
     {.computes = false}},
    [](const DeviceOptions& options) { return std::make_unique<Emulated>(options); });

}  // namespace
}  // namespace bench
