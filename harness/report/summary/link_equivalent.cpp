// Scales the emulated rate by the ratios of gradient bytes and of computing times to those of a real GPU.
#include "harness/report/summary/link_equivalent.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/contract/precision_traits.h"
#include "harness/report/summary/summary.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

constexpr double kResNet18Parameters = 11'689'512;  // ResNet18 with 1000 classes
constexpr double kKernelMs = (67.5 + 164.3) / 256;  // of an image, forward and backward in O0
constexpr double kSixteenBitShare = 70.1 / 87.989;  // of the time in O0

bool has_shaped_link(const Record& record) {
  return record.config.nodes > 1 && record.config.link_rate_mbit > 0 && record.device.kind == "cpu" &&
         emulates(record, "link");
}

double computing_ms(const Record& record) {
  if (!record.ceilings) return 0;
  double sum = 0;
  for (const char* phase : {"forward", "backward"}) {
    const auto found = record.ceilings->compute.find(phase);
    if (found == record.ceilings->compute.end()) return 0;
    sum += found->second;
  }
  return sum;
}

}  // namespace

std::optional<double> real_link_mbit(const Record& record) {
  const Row& row = record.config;
  if (row.model != "resnet18" || !has_shaped_link(record) || !record.communication) return std::nullopt;
  double bytes = 0;
  for (const auto& message : record.communication->all_reduces) bytes += double(message.bytes);
  const double here_ms = computing_ms(record);
  const double divisor = std::max<double>(1, double(record.scale.batch_divisor));
  const PrecisionTraits& precision = precision_traits(row.precision);
  const double there_ms = kKernelMs * double(row.batch) * divisor / double(all_devices(row)) *
                          (precision.sixteen_bit() ? kSixteenBitShare : 1);
  if (bytes <= 0 || here_ms <= 0 || there_ms <= 0) return std::nullopt;
  return row.link_rate_mbit * (kResNet18Parameters * precision.weight_bytes / bytes) * (here_ms / there_ms);
}

std::vector<std::string> link_equivalents(const Summary& summary) {
  std::vector<std::string> texts;
  for (const SummaryRow& row : summary.rows) {
    const auto mbit = row.ok() && row.record ? real_link_mbit(*row.record) : std::nullopt;
    if (!mbit) continue;
    texts.push_back(fmt::format(
        "{}: the link of {:g} Mbit/s stands for one of about {:.2g} Gbit/s on the article's GPUs: there the "
        "ratio of all-reduce to computing would be the same (computing here: {:.1f} ms a batch, measured)",
        row.id, row.config.link_rate_mbit, *mbit * 1e-3, computing_ms(*row.record)));
  }
  return texts;
}

}  // namespace harness
