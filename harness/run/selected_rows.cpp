// Asks train_slice for its values, resolves the rows, and chooses emulated devices where there is no GPU.
#include "harness/run/selected_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/json_text.h"
#include "harness/config/device_file.h"
#include "harness/config/row_traits.h"
#include "harness/config/selection.h"
#include "harness/plan/instruments.h"
#include "harness/plan/probe.h"
#include "harness/run/row_checks.h"

namespace harness {

AxisValues ask_values(const Installation& installation) {
  if (!fs::exists(installation.train_slice)) return {};
  const fs::path kept = installation.train_slice.string() + ".values.json";
  std::error_code none;  // not of an installed program, nor of one that was replaced
  if (const auto at = fs::last_write_time(kept, none);
      !none && at >= fs::last_write_time(installation.train_slice))
    return decode<AxisValues>(base::require_json(base::read_file(kept)));
  const base::Finished finished = base::run_to_end({{installation.train_slice, "--values"}});
  std::string why = fmt::format("exit code {}", finished.exit_code);
  if (finished.exit_code == 0) try {
      return decode<AxisValues>(base::require_json(finished.output));
    } catch (const std::runtime_error& error) {
      why = error.what();
    }
  throw PreparationError(fmt::format("{} --values failed ({}): build it again with ./run_matrix",
                                     installation.train_slice.string(), why));
}

// Tables and plots of one run compare its rows, so all of them are measured or all are emulated.
static void refuse_mixed_devices(const std::vector<Row>& rows, const AxisValues& values) {
  for (const Row& row : rows)
    if (computes(row.device, values) != computes(rows[0].device, values))
      throw ConfigError({fmt::format("rows {} and {}", in_quotes(rows[0].id), in_quotes(row.id))},
                        "emulated devices and real ones can't be compared in one run",
                        "rows on devices of one kind", fmt::format("{} and {}", rows[0].device, row.device),
                        "run them one after the other with --device");
}

// Reads the device file of each row on an emulated device, `usual` where the row names none.
static void read_device_files(Selection& selection, const fs::path& project, const std::string& usual,
                              const AxisValues& values) {
  for (Row& row : selection.rows) {
    if (computes(row.device, values)) continue;
    if (row.device_file.empty()) row.device_file = usual;
    const fs::path file = device_file(project, row.device_file);
    if (row.device_file.ends_with(".yaml")) row.device_file = fs::absolute(file).lexically_normal();
    auto& device = selection.device_files[row.device_file];
    if (device.name.empty()) device = read_device_file(file);
    require_times(device, file, row);
  }
}

// Whether the rows run on emulated devices where there is no GPU: not at the scales that train on the
// processor, nor rows that measure an accuracy, name their device, or have no times in the usual device file.
static bool can_be_emulated(const Installation& installation, const Request& request,
                            const std::vector<Scale>& scales, const AxisValues& values) {
  if ((request.scale != "auto" && request.scale != "emulated") || !find_value(values, "device", "emulated"))
    return false;
  const Scale& scale = find_scale(scales, "emulated");
  std::vector<Matrix> matrices;
  try {
    for (const fs::path& config : request.configs)
      matrices.push_back(load_matrix(config, scale, values, "emulated"));
  } catch (const ConfigError&) {
    return false;  // what is wrong on every device is said again
  }
  std::vector<Row> rows = select(matrices, request.only);
  std::erase_if(rows, [](const Row& row) { return !row.skip.empty(); });
  const auto sets_accuracy = [](const std::string& setting) { return setting.starts_with("validation="); };
  if (std::ranges::any_of(request.set, sets_accuracy)) return false;
  set_fields(rows, request.set, scale, values);
  const EmulatedDevice usual = read_device_file(device_file(installation.project, kDefaultDeviceFile));
  return std::ranges::all_of(rows, [&](const Row& row) {
    return !row.validation && row.device == "emulated" && find_costs(usual, row.model, row.precision);
  });
}

Selection select_rows(const Installation& installation, const Request& request, const AxisValues& values) {
  Selection selection;
  // --device emulated:NAME
  const size_t colon = request.device.find(':');
  const auto scales = load_scales(installation.project / "configs" / "scales.yaml");
  const std::string device = request.device != "auto"              ? request.device.substr(0, colon)
                             : available(values, "device", "cuda") ? "cuda"
                             : can_be_emulated(installation, request, scales, values) ? "emulated"
                                                                                      : "cpu";
  Row probe;
  if (request.device != "auto") assign(probe, "device", {device, {"--device " + request.device}}, 1, values);
  const bool emulated = !computes(device, values);
  if (colon != std::string::npos && !emulated)
    throw ConfigError({"--device " + request.device}, "only device emulated has device files",
                      "--device emulated:NAME", in_quotes(request.device));
  selection.scale = find_scale(scales, request.scale != "auto" ? request.scale
                                       : emulated              ? "emulated"
                                       : device == "cpu"       ? "rehearsal"
                                                               : "article");
  const auto rows_at = [&](const Scale& scale) {
    std::vector<Matrix> matrices;
    for (const fs::path& config : request.configs)
      matrices.push_back(load_matrix(config, scale, values, device));
    selection.repeated.clear();
    for (const Matrix& matrix : matrices)
      selection.repeated.insert(selection.repeated.end(), matrix.repeated.begin(), matrix.repeated.end());
    std::vector<Row> rows = select(matrices, request.only);
    if (request.device != "auto") set_fields(rows, {"device=" + device}, scale, values);
    selection.notes = choose_backends(rows, request.oversubscribe, values);
    if (request.devices > 0)
      for (const auto& [row, notes] : rederive_for_devices(rows, request.devices, values))
        selection.notes[row].insert(selection.notes[row].end(), notes.begin(), notes.end());
    for (Row& row : rows) row.seed = request.seed;
    set_fields(rows, request.set, scale, values);
    return rows;
  };
  if (request.scale == "auto" && device == "cuda") fit_to_memory(installation, selection.scale, rows_at);
  selection.rows = rows_at(selection.scale);
  refuse_mixed_devices(selection.rows, values);
  read_device_files(selection, installation.project,
                    colon == std::string::npos ? kDefaultDeviceFile : request.device.substr(colon + 1),
                    values);
  return selection;
}

std::vector<PlannedRow> make_plan(const Selection& selection, const AxisValues& values,
                                  const Request& request, const RecordMachine& machine) {
  const auto why_not = [&](const Row& row) { return why_not_started(row, values, request); };
  std::vector<PlannedRow> plan =
      make_plan(selection.rows, values, request, why_not, machine.cores.value_or(1));
  for (PlannedRow& planned : plan)
    if (const auto notes = selection.notes.find(planned.row.id); notes != selection.notes.end())
      planned.notes.insert(planned.notes.end(), notes->second.begin(), notes->second.end());
  return plan;
}

Selection checked_selection(const Installation& installation, const Request& request,
                            const AxisValues& values) {
  if (!fs::exists(installation.train_slice))
    throw PreparationError(installation.train_slice.string() +
                           " is not built: ./run_matrix at the top of the project builds it");
  Selection selection = select_rows(installation, request, values);
  for (const Row& row : selection.rows) {
    traced_batches(request, row);
    if (!computes(row.device, values) && !request.trace.empty())
      throw PreparationError(
          fmt::format("row {}: --trace {}: device {} runs no kernels to trace; leave out --trace, or "
                      "use --device cpu",
                      row.id, request.trace, row.device));
    if (row.engine != "libtorch" && !request.trace.empty())
      throw PreparationError(fmt::format(
          "row {}: --trace {}: engine {} records no trace; leave out --trace, or set engine=libtorch", row.id,
          request.trace, row.engine));
    check_wrap(request, row, values);
  }
  return selection;
}

}  // namespace harness
