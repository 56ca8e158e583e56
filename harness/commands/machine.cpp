// machine: what does this machine's loader deliver, and how many devices does that feed?
#include <iostream>

#include "harness/commands/command_line.h"
#include "harness/feed/feed.h"

namespace harness {

static void add_machine(CommandLine& line) {
  CLI::App* command = line.app.add_subcommand(
      "machine",
      "about a minute of real work, nothing emulated: what this machine reads from a cold "
      "disk and decodes, and how many V100, A100 and H100 that feeds");
  command->fallthrough();
  command->callback([&line] {
    refuse_matrix(line, "machine");
    line.action = [&line](const Installation& installation) {
      return run_machine(installation, line.request, std::cout);
    };
  });
}
static const Command registered_machine(140, add_machine);

}  // namespace harness
