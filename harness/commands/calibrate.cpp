// calibrate: writes a device file from the device times of a run.
#include <fmt/format.h>

#include <iostream>

#include "harness/base/comma_list.h"
#include "harness/base/file.h"
#include "harness/commands/command_line.h"
#include "harness/config/device_file.h"
#include "harness/stats/calibration.h"
#include "harness/stats/disturbance.h"
#include "harness/stats/provenance.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

struct DeviceToWrite {
  fs::path run, out;
  std::string rows, name;
  bool force = false;
};

// The text with '-' in place of every character that a file's name or a shell could misread.
std::string as_name(std::string text) {
  for (char& c : text)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_' && c != '.') c = '-';
  return text;
}

// Sets name and file, each of which may follow from the other.
void complete(DeviceToWrite& asked, const fs::path& project) {
  const fs::path folder = fs::weakly_canonical(asked.run);
  if (!asked.out.empty() && asked.out.extension() != ".yaml")
    throw PreparationError(asked.out.string() + ": a device file's name ends in .yaml");
  if (asked.name.empty())
    asked.name = asked.out.empty() ? as_name(folder.filename()) : asked.out.stem().string();
  if (asked.name != as_name(asked.name))
    throw PreparationError(
        fmt::format("{}: a device's name has letters, digits, '-', '_' and '.'; choose another with --name",
                    in_quotes(asked.name)));
  if (asked.out.empty()) asked.out = project / "configs" / "devices" / (asked.name + ".yaml");
  if (asked.out.stem() != asked.name)
    throw PreparationError(fmt::format("--out {}: the file must be named after the device, {}.yaml",
                                       asked.out.string(), asked.name));
  if (fs::exists(asked.out) && !asked.force)
    throw PreparationError(
        fmt::format("{}: exists already; --force replaces it, --name names another", asked.out.string()));
}

template <class Figures>
void print_figures(Figures figures, const std::string& indent) {
  for (const Key& key : kType<Figures>.keys())
    if (const auto* figure = key.find_in<SourcedFigure>(&figures))
      fmt::print("{}{:22}{:>12.6g}  {:9} {}\n", indent, key.name, figure->value, figure->provenance,
                 figure->source);
}

int calibrate_from(DeviceToWrite asked, const Installation& installation) {
  const Records records = read_records(asked.run, std::cerr);
  complete(asked, installation.project);
  const std::vector<std::string> rows = base::split_at_commas(asked.rows);
  EmulatedDevice device;
  try {
    device = calibrate(records, rows, asked.name, fs::weakly_canonical(asked.run).filename());
  } catch (const std::runtime_error& error) {
    throw PreparationError(asked.run.string() + ": " + error.what());
  }
  base::remove_drafts_of(asked.out);
  base::write_whole_file(asked.out, device_file_text(device));
  read_device_file(asked.out);
  for (const auto& [model, precisions] : device.models)
    for (const auto& [precision, costs] : precisions) {
      fmt::print("{} {}\n", model, precision);
      print_figures(costs, "  ");
    }
  print_figures(device, "");
  const CalibrationRows used = rows_to_calibrate_from(records, rows);
  for (const RecordList& some : {used.single, used.several})
    for (const Record* record : some) {
      for (const std::string& doubt : doubts(*record)) fmt::print("row {}: {}\n", record->row, doubt);
      if (const std::string text = disturbance_text({record}); !text.empty())
        fmt::print("row {}: {}\n", record->row, text);
    }
  const bool shipped = asked.out.parent_path() == installation.project / "configs" / "devices";
  fmt::print("\n{}\nuse it: ./run_matrix --device emulated:{}\n", asked.out.string(),
             shipped ? asked.name : asked.out.string());
  return base::kAllGood;
}

}  // namespace

static void add_calibrate(CommandLine& line) {
  const auto asked = std::make_shared<DeviceToWrite>();
  CLI::App* command = line.app.add_subcommand(
      "calibrate", "write a device file for --device emulated:NAME from the device times of a run");
  command->add_option("run", asked->run, "folder of a run on GPUs, or on a CPU with --set storage=synthetic")
      ->required();
  command->add_option(
      "--row", asked->rows,
      "rows to use, e.g. 0,1 (default: all that can be; two batch sizes tell the fixed time)");
  command->add_option("--name", asked->name, "name of the device (default: that of --out or of the run)");
  command->add_option("--out", asked->out, "file to write (default: configs/devices/NAME.yaml)");
  command->add_flag("--force", asked->force, "replace an existing file");
  line.set_action(command,
                  [asked](const Installation& installation) { return calibrate_from(*asked, installation); });
}
static const Command registered_calibrate(10, add_calibrate);

}  // namespace harness
