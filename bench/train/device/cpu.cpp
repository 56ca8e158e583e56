// cpu: compute threads of this machine as a device. It has its own buffers, so that the copy to the device is
// real.
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <malloc.h>

#include <cstring>
#include <utility>

#include "bench/train/device/device.h"
#include "bench/train/device/normalisation.h"
#include "harness/base/machine.h"

namespace bench {
namespace {

std::string processor_name() {
  const std::string name = base::value_of("/proc/cpuinfo", "model name");
  return name.empty() ? "CPU" : name;
}

bool made_as_nhwc(const DeviceOptions& options) {
  return options.format() == BatchFormat::channels_last ||
         (options.format() == BatchFormat::uint8 && options.row.channels_last);
}

class Cpu : public Device {
 public:
  explicit Cpu(const DeviceOptions& options)
      : images_(
            at::empty({options.batch_size, 3, options.row.image_px, options.row.image_px},
                      made_as_nhwc(options) ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous)),
        labels_(at::empty({options.batch_size}, at::kLong)),
        channels_last_(options.row.channels_last) {
    at::set_num_threads(int(options.row.intra_op_threads));
    images_.zero_();  // touches the pages before timing starts
    if (options.format() == BatchFormat::uint8)
      pixels_ = at::zeros({options.batch_size, options.row.image_px, options.row.image_px, 3}, at::kByte);
  }
  at::Device torch_device() const override { return at::kCPU; }
  std::string name() const override { return processor_name(); }
  DeviceBatch copy_batch(const Batch& batch) override {
    at::Tensor& target = pixels_.defined() ? pixels_ : images_;
    std::memcpy(target.mutable_data_ptr(), batch.images, target.nbytes());
    std::memcpy(labels_.mutable_data_ptr(), batch.labels, labels_.nbytes());
    if (pixels_.defined()) {
      at::NoGradGuard no_grad;
      images_.copy_(pixels_.permute({0, 3, 1, 2})).mul_(normalisation_.scale).add_(normalisation_.shift);
    }
    copied_ = batch;
    // Converts the memory format if it differs from the host's; otherwise contiguous() makes no copy.
    return {channels_last_ ? images_.contiguous(at::MemoryFormat::ChannelsLast) : images_, labels_};
  }
  void empty_cache() override { ::malloc_trim(0); }
  std::optional<Batch> take_copied() override { return std::exchange(copied_, std::nullopt); }

 private:
  at::Tensor images_, labels_, pixels_;
  bool channels_last_;
  std::optional<Batch> copied_;
  const Normalisation normalisation_{at::kCPU};
};

const bool registered_device_cpu = DeviceRegistry::instance().add(
    {"device", "cpu", "compute threads of this machine; several devices are replicas that share its cores"},
    [](const DeviceOptions& options) { return std::make_unique<Cpu>(options); });

}  // namespace
}  // namespace bench
