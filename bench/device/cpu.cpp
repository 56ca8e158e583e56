// cpu: some compute threads of this machine as a device, with buffers of its own so that the copy to it is
// real.
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>

#include <cstring>
#include <fstream>

#include "bench/device/device.h"

namespace bench {
namespace {

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  return "CPU";
}

class Cpu : public Device {
 public:
  explicit Cpu(const DeviceOptions& options)
      : images_(at::empty({options.batch_size, 3, options.image_px, options.image_px})),
        labels_(at::empty({options.batch_size}, at::kLong)) {
    at::set_num_threads(int(options.intra_op_threads));
    images_.zero_();  // touches the pages before the clock runs
  }
  at::Device torch_device() const override { return at::kCPU; }
  std::string name() const override { return processor_name(); }
  DeviceBatch copy_batch(const Batch& batch) override {
    std::memcpy(images_.mutable_data_ptr(), batch.images, images_.nbytes());
    std::memcpy(labels_.mutable_data_ptr(), batch.labels, labels_.nbytes());
    return {images_, labels_};
  }

 private:
  at::Tensor images_, labels_;
};

const bool registered = DeviceRegistry::instance().add(
    {"device", "cpu", "compute threads of this machine; several devices are replicas that share its cores"},
    [](const DeviceOptions& options) { return std::make_unique<Cpu>(options); });

}  // namespace
}  // namespace bench
