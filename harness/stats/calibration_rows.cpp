// Refuses records whose times include other work, and records that differ in what a device computes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "harness/stats/calibration.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

bool shares_machine(const Record& record) {
  return record.world_size > 1 || record.config.devices > 1 || record.config.nodes > 1;
}

// Ranks that leave their collectives out are lone devices on a machine that is busy with the others.
bool has_several_devices(const Record& record) { return shares_machine(record) && record.config.collectives; }

// Why a record's times are not those of its device alone; empty when they are.
std::string why_unusable(const Record& record) {
  if (on_emulated_device(record))
    return fmt::format("it ran on an emulated device, whose times are those of device file {}",
                       record.config.device_file);
  if (!is_ok(record)) return fmt::format("it is {}: {}", record.status, record.reason);
  if (record.trace || record.wrap) return "its times include the cost of a profiler or a wrapping command";
  if (record.samples_ms.empty()) return "it has no phases (field phase_clock is off)";
  if (is_cpu(record)) {
    if (record.config.storage != "synthetic")
      return fmt::format(
          "loader threads of storage {} share the cores with the device; run it with --set "
          "storage=synthetic",
          record.config.storage);
  } else if (record.device_ms.empty()) {
    return "it has no device times";
  }
  if (has_several_devices(record)) return "only rows with one device tell what one takes";
  return "";
}

void require_alike(const RecordList& used) {
  const Record& first = *used.front();
  for (const Record* other : used) {
    const auto refuse = [&](const std::string& what, const std::string& a, const std::string& b) {
      throw std::runtime_error(fmt::format("rows {} and {} differ in {}: {} and {}; choose rows with --row",
                                           first.row, other->row, what, a, b));
    };
    if (other->device.kind != first.device.kind || other->device.name != first.device.name)
      refuse("their device", first.device.name, other->device.name);
    if (all_devices(other->config) != all_devices(first.config))
      refuse("how many devices share the machine", std::to_string(all_devices(first.config)),
             std::to_string(all_devices(other->config)));
    // What changes how long a device takes for an image.
    for (const char* field : {"model", "image_px", "width", "classes", "dropout", "optimizer", "accumulation",
                              "channels_last", "batch_format", "fused_sgd", "tf32", "cuda_graphs",
                              "cudnn_benchmark", "intra_op_threads", "fused_batch_norm", "byte_pool_indices"})
      if (field_text(other->config, field) != field_text(first.config, field))
        refuse(field, field_text(first.config, field), field_text(other->config, field));
  }
}

bool has_lone_all_reduces(const Record& record) {
  return is_ok(record) && !on_emulated_device(record) && record.world_size > 1 && record.config.nodes == 1 &&
         record.communication && record.communication->ceiling_ms.value_or(0) > 0;
}

}  // namespace

std::string names_of(const RecordList& records) {
  std::vector<std::string> names;
  for (const Record* record : records)
    if (std::ranges::find(names, record->row) == names.end()) names.push_back(record->row);
  return fmt::format("{} {}", names.size() == 1 ? "row" : "rows", fmt::join(names, ", "));
}

CalibrationRows rows_to_calibrate_from(const Records& records, const std::vector<std::string>& rows) {
  const RecordList all = pointers_to(records);
  for (const std::string& row : rows)
    if (std::ranges::none_of(all, [&](const Record* one) { return one->row == row; }))
      throw std::runtime_error(fmt::format("the run has no row {}; it has {}", row, names_of(all)));
  CalibrationRows found;
  std::vector<std::pair<std::string, RecordList>> reasons;  // why, and which records
  for (const Record* record : all) {
    if (!rows.empty() && std::ranges::find(rows, record->row) == rows.end()) continue;
    const std::string why = has_lone_all_reduces(*record) ? "" : why_unusable(*record);
    if (!why.empty()) {
      if (!rows.empty()) throw std::runtime_error(fmt::format("row {}: {}", record->row, why));
      const auto same =
          std::ranges::find_if(reasons, [&](const auto& reason) { return reason.first == why; });
      (same == reasons.end() ? reasons.emplace_back(why, RecordList()) : *same).second.push_back(record);
    } else {
      (has_several_devices(*record) ? found.several : found.single).push_back(record);
    }
  }
  if (found.single.empty()) {
    std::string text = "no row has the times of one device";
    for (const auto& [why, records] : reasons) text += fmt::format("; {}: {}", names_of(records), why);
    throw std::runtime_error(text + "; run for example --only 0,1 --set storage=synthetic");
  }
  // Unless they are named, rows of one device are preferred to ranks that share the machine.
  if (rows.empty() &&
      !std::ranges::all_of(found.single, [](const Record* one) { return shares_machine(*one); }))
    std::erase_if(found.single, [](const Record* one) { return shares_machine(*one); });
  require_alike(found.single);
  const std::string& kind = found.single.front()->device.kind;
  std::erase_if(found.several, [&](const Record* record) { return record->device.kind != kind; });
  return found;
}

}  // namespace harness
