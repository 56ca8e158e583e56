// Averages message and waiting times over ranks and batches, and formats them as a table.
#include "harness/report/summary/communication.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/report/summary/device_time.h"
#include "harness/report/summary/summary.h"
#include "harness/stats/records.h"

namespace harness {

namespace {

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
  const double batches = std::max(1.0, double(record.timed_batches.value_or(0)));
  it.all_reduced_bytes = double(record.communication->all_reduced_bytes.value_or(0)) / batches;
  for (const RecordMessage& message : record.communication->all_reduces) it.messages.push_back(message.bytes);
  it.alone_ms = record.communication->ceiling_ms.value_or(0);
  it.under_way_ms = mean_ms(record.spans_ms, {"communication"}).value_or(0);
  if (record.link) it.link_share = share_of_link(*record.link);
  // The keys are sorted by name: bn1 precedes all layers.
  const std::string prefix = "sync_bn/";
  for (const auto& [name, values] : record.spans_ms)
    if (name.starts_with(prefix))
      it.sync_bn.push_back({name.substr(prefix.size()), mean_ms(record.spans_ms, {name}).value_or(0)});
  it.sync_bn_backward_ms = mean_ms(record.spans_ms, {"sync_bn_backward"}).value_or(0);
  // On a GPU the host runs ahead of the device, so only the device's times contain its waits.
  const bool has_device_time = has_device_times(record, "sync");
  const Samples& phases = has_device_time ? record.device_ms : record.samples_ms;
  it.exposed_ms = mean_ms(phases, {"broadcast", "sync"}).value_or(0);
  if (!has_device_time || on_emulated_device(record)) it.exposed_ms += it.sync_bn_ms();
  return it;
}

Grid communication_grid(const Summary& summary) {
  Grid grid;
  grid.title = "communication";
  grid.columns = {{"row", true},   {"ranks"},    {"backend", true},        {"link", true},
                  {"all-reduced"}, {"messages"}, {"under way ms"},         {"alone ms"},
                  {"exposed ms"},  {"hidden"},   {"link bytes / expected"}};
  for (const SummaryRow& row : summary.rows) {
    if (!row.communication) continue;
    const Communication& it = *row.communication;
    const double hidden = it.under_way_ms > 0 ? 1 - std::min(1.0, it.exposed_ms / it.under_way_ms) : 0;
    grid.rows.push_back({row.id, std::to_string(row.record->world_size), row.config.backend,
                         link_that_ran(*row.record), bytes_text(it.all_reduced_bytes),
                         std::to_string(it.messages.size()), fmt::format("{:.1f}", it.under_way_ms),
                         fmt::format("{:.1f}", it.alone_ms), fmt::format("{:.1f}", it.exposed_ms),
                         fmt::format("{:.0f} %", 100 * hidden),
                         it.link_share ? fmt::format("{:.2f}", *it.link_share) : "-"});
  }
  grid.notes = notes_of(summary);
  return grid;
}

}  // namespace harness
