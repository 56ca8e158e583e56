// report and plot: rebuild the results of a run from its records.
#include <iostream>
#include <sstream>

#include "harness/base/file.h"
#include "harness/base/file_lock.h"
#include "harness/commands/command_line.h"
#include "harness/outputs/outputs.h"
#include "harness/report/results.h"
#include "harness/stats/records.h"

namespace harness {

static void add_report(CommandLine& line) {
  const auto add = [&line](const char* name, const char* help, bool plots) {
    CLI::App* command = line.app.add_subcommand(name, help);
    const auto run = std::make_shared<fs::path>();
    const auto outputs = std::make_shared<Request>();
    command->add_option("run", *run, "folder of the run")->required();
    add_output_options(*command, *outputs);
    line.set_action(command, [run, outputs, plots](const Installation& installation) {
      check_outputs(*outputs);
      {  // not longer: while a page is made, the run may be continued
        const auto lock = base::FileLock::try_existing(*run / "records.jsonl");
        if (lock.holds()) base::remove_drafts(*run);
      }
      if (!rebuild_results(installation.project, *run, plots, std::cout)) return int(base::kNothingRan);
      show_left_out(*run, std::cout);
      std::ostringstream told;  // by rebuild_results() already
      if (asks_for_outputs(*outputs))
        write_outputs(*outputs, result_of_run(*run, read_records(*run, told)), std::cout);
      return int(base::kAllGood);
    });
  };
  add("report", "rebuild tables, verdicts and report.html of a run from its records", false);
  add("plot", "like report, and also render the figures", true);
}
static const Command registered_report(50, add_report);

}  // namespace harness
