// nightly: runs the rows for the history.
#include "harness/nightly/nightly.h"

#include <iostream>

#include "harness/commands/command_line.h"

namespace harness {

static void add_nightly(CommandLine& line) {
  const auto nightly = std::make_shared<NightlyRequest>();
  CLI::App* command = line.app.add_subcommand(
      "nightly",
      "run the rows 3 times with canaries, add them to the history and report lasting changes; for cron, a "
      "timer or CI. Exit codes: 0 good, 1 a row failed, 3 nothing measured, 4 a row became slower");
  command->fallthrough();
  command->footer(
      "The options of a run also apply, before or after the command: --only, --scale, --set, --repeat, "
      "--budget, --out and the others of `./run_matrix --help`.");
  command->add_option("--history", nightly->history, "folder of the history (default results/history)");
  command->add_option("--tag", nightly->tag,
                      "text stored with the night, e.g. a branch or a driver's version");
  command->add_flag_function(
      "--no-report", [nightly](int64_t) { nightly->report = false; },
      "write only records, no tables, figures and page");
  line.set_action(command, [&line, nightly](const Installation& installation) {
    return run_nightly(installation, line.request, *nightly, std::cout);
  });
}
static const Command registered_nightly(90, add_nightly);

}  // namespace harness
