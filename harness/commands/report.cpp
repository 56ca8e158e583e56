// report and plot: rebuild the results of a run from its records.
#include <iostream>

#include "harness/commands/command_line.h"
#include "harness/report/results.h"

namespace harness {

void add_report(CommandLine& line) {
  const auto add = [&line](const char* name, const char* help, bool plots) {
    CLI::App* command = line.app.add_subcommand(name, help);
    const auto run = std::make_shared<fs::path>();
    command->add_option("run", *run, "folder of the run")->required();
    command->callback([&line, run, plots] {
      line.action = [run, plots](const Installation& installation) {
        if (!rebuild_results(installation.project, *run, plots, std::cout)) return int(base::kNothingRan);
        show_left_out(*run, std::cout);
        return int(base::kAllGood);
      };
    });
  };
  add("report", "rebuild tables, verdicts and report.html of a run from its records", false);
  add("plot", "like report, and also render the figures", true);
}

}  // namespace harness
