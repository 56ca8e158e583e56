// record and import: a user's own training as a record, and the options of all commands that start one.
#include <iostream>
#include <regex>

#include "harness/commands/command_line.h"
#include "harness/own_job/job_commands.h"

namespace harness {

void add_job_options(CommandLine& line, CLI::App& command) {
  line.job_commands.insert(command.get_name());
  JobRequest& job = line.job;
  command.option_defaults()->group("Options for a command of your own (after `--`)");
  command.add_option("--steps", job.steps, "timed steps of each measurement (default: chosen by the time)")
      ->check(CLI::Range(4, 100000));
  command.add_option("--warmup", job.warmup, "steps before the first measurement (default: by the workers)")
      ->check(CLI::Range(1, 100000));
  command
      .add_option(
          "--step-line", job.step_line,
          "regular expression for the line that the command prints at each step, where it isn't Python: it "
          "is then changed from outside alone")
      ->check([](const std::string& text) -> std::string {
        try {
          const std::regex tried(text);
          return "";
        } catch (const std::regex_error& error) {
          return text + " is no regular expression such as `step [0-9]+`: " + error.what();
        }
      });
  command.add_flag("--may-write", job.may_write,
                   "the command may write its files for real; without it they are thrown away");
  command.add_flag("--cold", job.cold,
                   "drop the files that its loader opens from the page cache before each start");
}

static void add_record(CommandLine& line) {
  CLI::App* command = line.app.add_subcommand(
      "record",
      "one run of your own PyTorch training as a record: record -- python train.py (docs/own_job.md). "
      "Exit codes: 0 measured, 1 the job failed or made no steps");
  add_time_option(*command, "--within", line.job.within_s,
                  "the job is ended then, e.g. 90s or 10m (default 10m)");
  add_job_options(line, *command);
  command->fallthrough();
  command->callback([&line] {
    if (line.job.command.empty()) throw CLI::ValidationError("record", "needs a command after `--`");
    refuse_rows(line, "record", {"--repeat"});
    line.action = [&line](const Installation& installation) {
      return record_job(installation, line.request, line.job, std::cout);
    };
  });
}
static const Command registered_record(110, add_record);

static void add_import(CommandLine& line) {
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
static const Command registered_import(120, add_import);

}  // namespace harness
