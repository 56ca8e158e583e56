// run_matrix: parses the command line and calls the action of its command.
#include <iostream>

#include "harness/base/failure_text.h"
#include "harness/base/interrupt.h"
#include "harness/base/program_start.h"
#include "harness/commands/command_line.h"
#include "harness/contract/machine.h"

using namespace harness;

int main(int argc, char** argv) {
  base::start_program();
  CommandLine line;
  add_run_options(line);
  add_calibrate(line);
  add_list(line);
  add_report(line);
  add_compare(line);
  add_ab(line);
  add_validate(line);
  add_nightly(line);
  add_explain(line);
  add_feed(line);
  add_history(line);
  line.app.add_subcommand("doctor", "print what this machine has and lacks")->callback([&line] {
    line.action = [](const Installation& installation) {
      std::cerr << "run_matrix: doctor is part of the script, not of this program; run "
                << (installation.project / "run_matrix").string() << " doctor\n";
      return int(base::kBadInput);
    };
  });
  line.app.set_version_flag(
      "--version", [] { return encode(describe_build()).dump(); }, "print the build as JSON");
  line.app.require_subcommand(0, 1);
  try {
    line.app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return line.app.exit(error) == 0 ? base::kAllGood : base::kBadInput;
  }
  try {
    const Installation installation = find_installation();
    std::vector<fs::path>& configs = line.request.configs;
    if (line.request.accuracy) configs.push_back(installation.project / "configs" / "accuracy.yaml");
    if (configs.empty()) configs = {installation.project / "configs" / "article.yaml"};
    return line.action(installation);
  } catch (const std::exception& error) {
    if (base::interrupted()) return base::kInterrupted;  // the interrupt caused the exception
    std::cerr << "run_matrix: " << base::failure_text(error) << '\n';
    return base::kBadInput;
  }
}
