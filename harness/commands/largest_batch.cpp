// largest-batch: how many images of a row does a device's memory hold?
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <iostream>

#include "harness/base/number.h"
#include "harness/base/scratch.h"
#include "harness/commands/command_line.h"
#include "harness/config/row_traits.h"
#include "harness/plan/probe.h"

namespace harness {
namespace {

struct SearchedRow {
  std::string row;
  uint64_t memory_cap_bytes = 0;
};

// A validator for CLI11, whose own message tells neither what was expected nor what was found.
std::string size_in_bytes(std::string& text) {
  std::string bytes = text;
  try {
    CLI::AsSizeValue(false)(bytes);
  } catch (const CLI::ParseError&) {
    bytes.clear();  // it has taken off the unit
  }
  if (base::number_of<int64_t>(bytes).value_or(0) <= 0) return "expected a size such as 4GiB, found " + text;
  text = bytes;
  return "";
}

double gib(double bytes) { return bytes / double(int64_t(1) << 30); }

// What the images have to fit into, in words. Throws where nothing limits them.
std::string memory_of(const Row& row, const EmulatedDevice* emulated, const SearchedRow& asked) {
  if (emulated)
    return fmt::format("{:g} GiB of emulated device {}", emulated->memory_gib.value, emulated->name);
  if (row.device == "cuda") return "this GPU's memory";
  if (asked.memory_cap_bytes == 0)
    throw PreparationError(
        "a row on the processor shares the machine's memory with everything else: say how much its process "
        "may take, e.g. --memory-cap 2GiB");
  return fmt::format("a process of {:g} GiB", gib(double(asked.memory_cap_bytes)));
}

int find_largest_batch(const Installation& installation, Request request, const SearchedRow& asked,
                       std::ostream& console) {
  request.only = asked.row;
  const Selection selection = checked_selection(installation, request, ask_values(installation));
  if (selection.rows.size() != 1)
    throw PreparationError(
        fmt::format("largest-batch takes one row; {} has {}", asked.row, selection.rows.size()));
  if (const Row& row = selection.rows[0]; row.engine != "libtorch")
    throw PreparationError(fmt::format(
        "row {}: largest-batch tries train_slice, not engine {}; set engine=libtorch", row.id, row.engine));
  Job job;
  job.row = selection.rows[0];
  job.row.accumulation = 1;  // the images of one micro-batch are what memory has to hold
  const auto device = selection.device_files.find(job.row.device_file);
  const EmulatedDevice* emulated = device == selection.device_files.end() ? nullptr : &device->second;
  if (emulated) job.emulation = emulation_of_probe(*emulated, 1);
  if (!emulated && job.row.device == "cpu") job.memory_cap_bytes = int64_t(asked.memory_cap_bytes);
  const std::string memory = memory_of(job.row, emulated, asked);
  const base::Scratch scratch;
  const LargestBatch found = largest_batch([&](int64_t images) {
    job.row.batch = images * all_devices(job.row);
    const bool fits = probe_memory(installation, job, scratch.path());
    fmt::print(console, "{:>8} images: {}\n", images, fits ? "fit" : "out of memory");
    console.flush();
    return fits;
  });
  const Row& row = job.row;
  const std::string what = fmt::format("row {} ({}, {}, {} px, width {})", row.id, row.model, row.precision,
                                       row.image_px, row.width);
  if (found.images == 0) {
    fmt::print(console, "{}: not even one image fits into {}\n", what, memory);
    return base::kNothingRan;
  }
  fmt::print(console, "{}: {} images a device{} {} into {}", what, found.images,
             all_devices(row) > 1 ? fmt::format(", {} in all,", found.images * all_devices(row)) : "",
             found.images == 1 ? "fits" : "fit", memory);
  if (found.too_many)
    fmt::print(console, "; {} don't\n", *found.too_many);
  else
    fmt::print(console, ", and no more were tried\n");
  return base::kAllGood;
}

}  // namespace

static void add_largest_batch(CommandLine& line) {
  const auto asked = std::make_shared<SearchedRow>();
  CLI::App* command = line.app.add_subcommand("largest-batch",
                                              "how many images a device's memory holds while a row trains on "
                                              "them: doubles, then bisects. Exit codes: 0 "
                                              "found, 3 not even one fits");
  command->fallthrough();
  command->add_option("row", asked->row, "id of the row")->required();
  command
      ->add_option("--memory-cap", asked->memory_cap_bytes,
                   "rows on the processor: what the process may take in all, e.g. 2GiB")
      ->transform(CLI::Validator(size_in_bytes, "SIZE"))
      ->type_name("SIZE");
  line.set_action(command, [&line, asked](const Installation& installation) {
    return find_largest_batch(installation, line.request, *asked, std::cout);
  });
}
static const Command registered_largest_batch(20, add_largest_batch);

}  // namespace harness
