// Adds up the times of loading, copies, computing and exposed messages for ResNet18 with 1000 classes.
#include "harness/stats/closed_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "harness/contract/precision_traits.h"

namespace harness {
namespace {

constexpr double kParameters = 11'689'512;  // ResNet18 with 1000 classes, as in torchvision
constexpr std::array kBatchNormChannels = {64, 128, 256, 512};  // torchvision's ResNet18: each in five layers
constexpr int kLayersOfEach = 5, kBatchNormLayers = kLayersOfEach * int(kBatchNormChannels.size());

// Backward in its order: the share of the gradients' elements that a stage adds, and of backward's time,
// assumed to be that of its floating-point operations: the classifier, layer4 to layer1, the first layers.
struct Stage {
  double elements, time;
};
constexpr std::array kBackward = {Stage{513'000 / kParameters, 0.01},   Stage{8'393'728 / kParameters, 0.19},
                                  Stage{2'099'712 / kParameters, 0.20}, Stage{525'568 / kParameters, 0.22},
                                  Stage{147'968 / kParameters, 0.28},   Stage{9'536 / kParameters, 0.10}};

// The share of backward after which this share of the gradients is ready.
double ready_share(double elements) {
  double time = 0;
  for (const Stage& stage : kBackward) {
    if (elements <= stage.elements) return time + stage.time * elements / stage.elements;
    elements -= stage.elements;
    time += stage.time;
  }
  return 1;
}

// Of DataParallel, in which one process copies between its devices.
double between_devices_ms(const Row& row, const EmulatedDevice& device, double images) {
  const double devices = double(row.devices);
  const double share = images / devices * decoded_image_bytes(row);
  const double weights = kParameters * precision_traits(row.precision).weight_bytes;
  return (devices - 1) * transfer_ms(share, device.peer_gb_per_s, device.peer_us) +
         2 * transfer_ms(weights, device.collective_gb_per_s, device.collective_us);
}

// The bytes of the last batch's all-reduces without those of SyncBN, which in backward sums two float32
// numbers per channel for each layer. The record tells one from the other by nothing but their sizes.
std::vector<double> gradient_messages(const Record& record) {
  std::map<int64_t, int64_t> of_sync_bn;  // bytes and how many of them
  if (record.config.sync_bn)
    for (const int channels : kBatchNormChannels)
      of_sync_bn[int64_t(2 * sizeof(float)) * channels] = kLayersOfEach * record.config.accumulation;
  std::vector<double> messages;
  for (const RecordMessage& message : record.communication.value_or(RecordCommunication()).all_reduces) {
    const auto sums = message.type == "float32" ? of_sync_bn.find(message.bytes) : of_sync_bn.end();
    if (sums == of_sync_bn.end() || sums->second-- <= 0) messages.push_back(double(message.bytes));
  }
  return messages;
}

// Of ranks: what is left of the last batch's all-reduces when backward has ended.
double exposed_ms(const Record& record, const EmulatedDevice& device, double backward_ms) {
  const double ranks = double(record.world_size), latency_ms = device.collective_us.value * 1e-3;
  double gb_per_s = device.collective_gb_per_s.value;
  if (record.config.nodes > 1) gb_per_s = std::min(gb_per_s, record.config.link_rate_mbit / 8000);
  const std::vector<double> messages = gradient_messages(record);
  const double all = std::accumulate(messages.begin(), messages.end(), 0.0);
  double sent = 0, end = 0;
  for (const double bytes : messages) {
    sent += bytes;
    const double ready = record.config.delay_allreduce ? 1 : ready_share(sent / all);
    end = std::max(end, ready * backward_ms) + 2 * (ranks - 1) * latency_ms +
          2 * (ranks - 1) / ranks * bytes / gb_per_s * 1e-6;
  }
  const double sync_bn = record.config.sync_bn ? 2 * kBatchNormLayers * 2 * (ranks - 1) * latency_ms : 0;
  return std::max(0.0, end - backward_ms) + sync_bn;
}

bool describes(const Row& row) {
  return row.model == "resnet18" && row.width == 64 && row.classes == 1000 && !row.prefetch &&
         (row.nodes == 1 || row.link_rate_mbit > 0);
}

}  // namespace

std::optional<ClosedModel> closed_model(const Record& record) {
  const Row& row = record.config;
  if (!record.emulation || !describes(row)) return std::nullopt;
  const EmulatedDevice& device = record.emulation->device;
  const PrecisionCosts* costs = find_costs(device, row.model, row.precision);
  if (!costs) return std::nullopt;
  const double divisor = double(record.emulation->batch_divisor), ranks = double(record.world_size);
  const double images = double(row.batch) * divisor, own = images / double(all_devices(row));
  const double forward = costs->forward_ms.value + costs->forward_ms_per_image.value * own;
  const double backward = costs->backward_ms.value + costs->backward_ms_per_image.value * own;
  ClosedModel model;
  model.device_ms =
      h2d_ms(device, images / ranks * decoded_image_bytes(row), row.pinned, record.world_size / row.nodes) +
      forward + backward + costs->optimizer_ms.value;
  if (ranks > 1)
    model.device_ms += exposed_ms(record, device, backward);
  else if (row.devices > 1)
    model.device_ms += between_devices_ms(row, device, images);
  if (record.ceilings && record.ceilings->loader_ms)
    model.load_ms = *record.ceilings->loader_ms * divisor / record.emulation->time_scale;
  return std::isfinite(model.step_ms()) && model.device_ms > 0 ? std::optional(model) : std::nullopt;
}

}  // namespace harness
