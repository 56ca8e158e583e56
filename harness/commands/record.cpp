// record: one run of a user's own job as a record, for compare, history and the page.
#include <iostream>

#include "harness/commands/command_line.h"
#include "harness/own_job/job_commands.h"

namespace harness {

void add_record(CommandLine& line) {
  CLI::App* command = line.app.add_subcommand(
      "record",
      "one run of your own PyTorch training as a record: record -- python train.py (docs/own_job.md). "
      "Exit codes: 0 measured, 1 the job failed or made no steps");
  add_job_options(line, *command);
  add_time_option(*command, "--within", line.job.within_s,
                  "the job is ended then, e.g. 90s or 10m (default 10m)");
  command->fallthrough();
  command->callback([&line] {
    if (line.job.command.empty()) throw CLI::ValidationError("record", "needs a command after `--`");
    refuse_rows(line, "record", {"--repeat"});
    line.action = [&line](const Installation& installation) {
      return record_job(installation, line.request, line.job, std::cout);
    };
  });
}

}  // namespace harness
