// A device file (configs/devices/NAME.yaml) as typed data: how long an emulated accelerator takes for what.
#pragma once
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "harness/contract/codec.h"

namespace harness {

// One figure and where it comes from; a list of these three in JSON.
struct SourcedFigure {
  double value = 0;
  std::string provenance;  // stated (by the article), measured, published, assumed
  std::string source;      // where: the row and sentence, record and date, or publication
  static constexpr bool kAsList = true;
  KEYS(SourcedFigure, REQUIRED(value, "in the unit that the key's name ends in"),
       REQUIRED(provenance, "stated, measured, published or assumed"),
       REQUIRED(source, "where it is stated, measured or published"));
};

// Kernel time of one training step, linear in the images that one device computes.
struct PrecisionCosts {
  SourcedFigure forward_ms_per_image, forward_ms, backward_ms_per_image, backward_ms, optimizer_ms;
  KEYS(PrecisionCosts, REQUIRED(forward_ms_per_image, "forward, per image"),
       REQUIRED(forward_ms, "forward, whatever the batch"),
       REQUIRED(backward_ms_per_image, "backward, per image"),
       REQUIRED(backward_ms, "backward, whatever the batch"),
       REQUIRED(optimizer_ms, "optimizer, all weights"));

  // In which a device computes so many images: forward, backward and the optimizer's step.
  double step_ms(double images) const {
    return images * (forward_ms_per_image.value + backward_ms_per_image.value) + forward_ms.value +
           backward_ms.value + optimizer_ms.value;
  }
};

struct EmulatedDevice {
  std::string name, summary;
  std::map<std::string, std::string> calibrated_on;
  // Image side and width of the networks in `models`; absent: their times hold for any size that the run has.
  std::optional<int64_t> image_px, width;
  std::map<std::string, std::map<std::string, PrecisionCosts>> models;
  SourcedFigure launch_us, memory_gb_per_s, memory_gib;
  SourcedFigure h2d_gb_per_s, h2d_us, pageable_gb_per_s, d2h_gb_per_s, d2h_us;
  // Devices of a node whose copies from the host share one link; absent: each has its own.
  std::optional<SourcedFigure> h2d_devices_per_link;
  SourcedFigure peer_gb_per_s, peer_us, collective_gb_per_s, collective_us;
  KEYS(EmulatedDevice, REQUIRED(name, "as in --device emulated:NAME"), REQUIRED(summary, "one line"),
       WHEN_SET(calibrated_on,
                "row of the article -> its figures from which values of the file were computed, e.g. total; "
                "every other row is held out, that is, predicted"),
       WHEN_SET(image_px, "rows must have this image size"), WHEN_SET(width, "rows must have this width"),
       REQUIRED(models, "network -> precision -> kernel times"),
       REQUIRED(launch_us, "host time of a kernel launch"),
       REQUIRED(memory_gb_per_s, "of the device's memory, for element-wise kernels"),
       REQUIRED(memory_gib, "size of the device's memory"),
       REQUIRED(h2d_gb_per_s, "copies from pinned host memory"), REQUIRED(h2d_us, "latency of such a copy"),
       WHEN_SET(
           h2d_devices_per_link,
           "devices of a node that share one link from the host, e.g. 2 behind a PCIe switch; missing: each "
           "has its own"),
       REQUIRED(pageable_gb_per_s, "copies from pageable host memory"),
       REQUIRED(d2h_gb_per_s, "copies to the host"), REQUIRED(d2h_us, "latency of such a copy"),
       REQUIRED(peer_gb_per_s, "copies between two devices"), REQUIRED(peer_us, "latency of such a copy"),
       REQUIRED(collective_gb_per_s, "bus bandwidth of collectives in a node"),
       REQUIRED(collective_us, "latency of a collective, per hop"));
};

// Kernel times of a network at a precision, null when the device file has none.
inline const PrecisionCosts* find_costs(const EmulatedDevice& device, const std::string& model,
                                        const std::string& precision) {
  const auto network = device.models.find(model);
  if (network == device.models.end()) return nullptr;
  const auto costs = network->second.find(precision);
  return costs == network->second.end() ? nullptr : &costs->second;
}

// Milliseconds that a copy or a message takes.
inline double transfer_ms(double bytes, const SourcedFigure& gb_per_s, const SourcedFigure& us) {
  return us.value * 1e-3 + bytes / gb_per_s.value * 1e-6;
}

// Milliseconds of a copy from the host while `devices` devices of the node copy at the same time.
inline double h2d_ms(const EmulatedDevice& device, double bytes, bool pinned, int64_t devices) {
  const SourcedFigure& rate = pinned ? device.h2d_gb_per_s : device.pageable_gb_per_s;
  const double per_link = device.h2d_devices_per_link ? device.h2d_devices_per_link->value : 1;
  return transfer_ms(bytes * std::min(per_link, double(devices)), rate, device.h2d_us);
}

inline constexpr int kMostEmulatedDevices = 16;  // of one process

// What train_slice emulates with; a part of its job and of the record.
struct Emulation {
  EmulatedDevice device;
  int64_t batch_divisor = 1;  // durations are those of the batch times this, divided by it
  double time_scale = 1;      // every modelled duration is multiplied by it
  int64_t wire_divisor = 1;   // bytes that cross the link between nodes are divided by it
  std::string wire = "ring";  // whose bytes they are: NCCL's `ring` or `tree`
  // Durations here / those of the device.
  double stretch() const { return time_scale / double(batch_divisor); }
  KEYS(Emulation, REQUIRED(device, "the device file"), REQUIRED(batch_divisor, "of the scale"),
       REQUIRED(time_scale, "field `time_scale`"), KEY(wire_divisor, "field `wire_divisor`"),
       KEY(wire, "field `wire`"));
};

}  // namespace harness
