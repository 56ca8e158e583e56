// Averages message and waiting times over ranks and batches, formats them as a table, and scales emulated
// links to real ones.
#include "harness/report/summary/communication.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "harness/contract/precision_traits.h"
#include "harness/report/summary/summary.h"
#include "harness/stats/records.h"

namespace harness {

namespace {

// Mean over batches and ranks: means add up, and to the phases' means, medians don't.
double mean_of(const std::vector<std::vector<double>>& by_rank) {
  double sum = 0, count = 0;
  for (const std::vector<double>& rank : by_rank)
    for (const double ms : rank)
      if (!std::isnan(ms)) sum += ms, ++count;
  return count > 0 ? sum / count : 0;
}

double mean_of(const Samples& samples, const std::string& name) {
  const auto found = samples.find(name);
  return found == samples.end() ? 0 : mean_of(found->second);
}

double share_of_link(const RecordLink& link) {
  double most = 0;
  for (const LinkNode& node : link.nodes)
    for (const auto& [bytes, expected] : {std::pair(node.sent_bytes, node.expected_sent_bytes),
                                          std::pair(node.received_bytes, node.expected_received_bytes)})
      if (expected > 0) most = std::max(most, double(bytes) / double(expected));
  return most;
}

std::string bytes_text(double bytes) {
  return bytes >= 1e6 ? fmt::format("{:.2f} MB", bytes / 1e6) : fmt::format("{:.0f} KB", bytes / 1e3);
}

std::vector<std::vector<std::string>> lines_of(const Summary& summary) {
  std::vector<std::vector<std::string>> lines;
  for (const SummaryRow& row : summary.rows) {
    if (!row.communication) continue;
    const Communication& it = *row.communication;
    const double hidden = it.under_way_ms > 0 ? 1 - std::min(1.0, it.exposed_ms / it.under_way_ms) : 0;
    lines.push_back({row.id, std::to_string(it.ranks), it.backend, it.link, bytes_text(it.all_reduced_bytes),
                     std::to_string(it.messages.size()), fmt::format("{:.1f}", it.under_way_ms),
                     fmt::format("{:.1f}", it.alone_ms), fmt::format("{:.1f}", it.exposed_ms),
                     fmt::format("{:.0f} %", 100 * hidden),
                     it.link_share ? fmt::format("{:.2f}", *it.link_share) : "-"});
  }
  return lines;
}

std::vector<std::string> notes_of(const Summary& summary) {
  std::vector<std::string> notes = {
      "Per batch and rank. under way: time with at least one collective posted and not done, including waits "
      "for slower ranks; alone: the same all-reduces with nothing else running, the ceiling; exposed: "
      "communication that computing did not hide (phases broadcast and sync, and waits of SyncBN); hidden: "
      "the rest of the time under way."};
  for (const SummaryRow& row : summary.rows) {
    if (!row.communication || row.communication->messages.empty()) continue;
    std::vector<std::string> sizes;
    for (int64_t bytes : row.communication->messages) sizes.push_back(bytes_text(double(bytes)));
    constexpr size_t kMost = 6;
    const std::string more = sizes.size() > kMost ? fmt::format(" and {} more", sizes.size() - kMost) : "";
    if (sizes.size() > kMost) sizes.resize(kMost);
    notes.push_back(
        fmt::format("{}: last batch's all-reduces in order: {}{}", row.id, fmt::join(sizes, ", "), more));
  }
  for (std::string& text : sync_bn_texts(summary)) notes.push_back(std::move(text));
  for (std::string& text : link_equivalents(summary)) notes.push_back(std::move(text) + ".");
  return notes;
}

}  // namespace

double Communication::sync_bn_ms() const {
  double sum = sync_bn_backward_ms;
  for (const Layer& layer : sync_bn) sum += layer.wait_ms;
  return sum;
}

std::vector<std::string> sync_bn_texts(const Summary& summary) {
  std::vector<std::string> texts;
  for (const SummaryRow& row : summary.rows) {
    if (!row.communication || row.communication->sync_bn.empty()) continue;
    const Communication& it = *row.communication;
    const double first_ms = it.sync_bn.front().wait_ms;
    texts.push_back(fmt::format(
        "{}: SyncBN waits in forward {:.2f} ms in {}, the first layer, and {:.2f} ms in the other {} "
        "together, in backward {:.2f} ms in all layers (means)",
        row.id, first_ms, it.sync_bn.front().name, it.sync_bn_ms() - it.sync_bn_backward_ms - first_ms,
        it.sync_bn.size() - 1, it.sync_bn_backward_ms));
  }
  return texts;
}

std::optional<Communication> communication_of(const Record& record) {
  if (!record.communication || !is_ok(record)) return std::nullopt;
  Communication it;
  it.ranks = record.world_size;
  it.backend = record.config.backend;
  it.link = link_that_ran(record);
  const double batches = std::max(1.0, double(record.timed_batches.value_or(0)));
  it.all_reduced_bytes = double(record.communication->all_reduced_bytes.value_or(0)) / batches;
  for (const RecordMessage& message : record.communication->all_reduces) it.messages.push_back(message.bytes);
  it.alone_ms = record.communication->ceiling_ms.value_or(0);
  it.under_way_ms = mean_of(record.spans_ms, "communication");
  if (record.link) it.link_share = share_of_link(*record.link);
  // The keys are sorted by name, and bn1 precedes all layers.
  const std::string prefix = "sync_bn/";
  for (const auto& [name, values] : record.spans_ms)
    if (name.rfind(prefix, 0) == 0) it.sync_bn.push_back({name.substr(prefix.size()), mean_of(values)});
  std::ranges::sort(it.sync_bn, [](const auto& a, const auto& b) {
    return std::pair(a.name.rfind("layer", 0) == 0, a.name) <
           std::pair(b.name.rfind("layer", 0) == 0, b.name);
  });
  it.sync_bn_backward_ms = mean_of(record.spans_ms, "sync_bn_backward");
  // On a GPU the host runs ahead of the device, so only the device's times contain its waits.
  const auto on_device = record.device_ms.find("sync");
  const bool has_device_time = on_device != record.device_ms.end() && !on_device->second.empty();
  const Samples& phases = has_device_time ? record.device_ms : record.samples_ms;
  it.exposed_ms = mean_of(phases, "broadcast") + mean_of(phases, "sync");
  if (!has_device_time || on_emulated_device(record)) it.exposed_ms += it.sync_bn_ms();
  return it;
}

Grid communication_grid(const Summary& summary) {
  Grid grid;
  grid.title = "communication";
  grid.columns = {{"row", true},   {"ranks"},    {"backend", true},        {"link", true},
                  {"all-reduced"}, {"messages"}, {"under way ms"},         {"alone ms"},
                  {"exposed ms"},  {"hidden"},   {"link bytes / expected"}};
  grid.rows = lines_of(summary);
  grid.notes = notes_of(summary);
  return grid;
}

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
