// nightly: a run for the history.
#include "harness/nightly/nightly.h"

#include <iostream>

#include "harness/commands/command_line.h"

namespace harness {

void add_nightly(CommandLine& line) {
  const auto nightly = std::make_shared<NightlyRequest>();
  CLI::App* command = line.app.add_subcommand(
      "nightly",
      "run the rows 3 times with canaries, add them to the history and say what changed for good; for cron, "
      "a "
      "timer or CI. Exit codes: 0 good, 1 a row failed, 3 nothing measured, 4 a row got slower");
  command->fallthrough();
  command->footer(
      "The options of a run hold here too, in front of the command or behind it: --only, --scale, --set, "
      "--repeat, --budget, --out and the rest of `run_matrix --help`.");
  command->add_option("--history", nightly->history, "folder of the history (default results/history)");
  command->add_option("--tag", nightly->tag, "kept with the night, e.g. a branch or a driver's version");
  command->add_flag_function(
      "--no-report", [nightly](int64_t) { nightly->report = false; },
      "leave records without tables, figures and page");
  command->callback([&line, nightly] {
    line.action = [&line, nightly](const Installation& installation) {
      return run_nightly(installation, line.request, *nightly, std::cout);
    };
  });
}

}  // namespace harness
