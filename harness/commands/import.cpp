// import: a trace of a user's own training, by torch.profiler, as a record.
#include <iostream>

#include "harness/commands/command_line.h"
#include "harness/own_job/job_commands.h"

namespace harness {

void add_import(CommandLine& line) {
  const auto asked = std::make_shared<TraceImport>();
  CLI::App* command = line.app.add_subcommand(
      "import", "a record from a trace that torch.profiler wrote of your own training (docs/own_job.md)");
  command->add_option("traces", asked->files, "file of each rank (.json, .json.gz), or a folder of them")
      ->required();
  command->add_option("--batch", asked->batch, "items of a step on each rank (default: as the trace tells)")
      ->check(kAboveZero);
  command->add_option("--model", asked->model,
                      "the network's name, for device files that `calibrate` writes");
  command->add_option("--precision", asked->precision, "and its precision's, e.g. o1");
  command->fallthrough();
  command->callback([&line, asked] {
    refuse_rows(line, "import", {"--repeat"});
    line.action = [&line, asked](const Installation& installation) {
      return import_traces(installation, line.request, *asked, std::cout);
    };
  });
}

}  // namespace harness
