// explain: what binds a row, or a user's own job?
#include "harness/explain/explain.h"

#include <iostream>

#include "harness/commands/command_line.h"
#include "harness/own_job/job_commands.h"

namespace harness {

static void add_explain(CommandLine& line) {
  const auto explain = std::make_shared<ExplainRequest>();
  CLI::App* command = line.app.add_subcommand(
      "explain",
      "what binds a row? Runs it with one thing changed at a time and measures what each gains. "
      "Exit codes: 0 measured, 3 nothing could be changed or compared, 1 a run failed. With `-- COMMAND`: what "
      "binds your own PyTorch training (docs/own_job.md)");
  command->add_option("row", explain->rows, "ids of rows, or `all`");
  add_time_option(
      *command, "--within", explain->within_s,
      "for each row: slices have so few batches that the first block fits, and no later run starts after it, "
      "e.g. 90s, 10m or 1h (default 10m)");
  command
      ->add_option("--change", explain->changes,
                   "only these changes, e.g. no_decoding,more_cores (docs/explain.md)")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option(
      "--prices", explain->prices,
      "YAML file with `unit` and what one more core, gpu, gbit_per_s or mb_per_s costs: adds the gain "
      "per unit of money");
  add_job_options(line, *command);
  command->fallthrough();
  command->callback([&line, explain] {
    if (explain->rows.empty() == line.job.command.empty())
      throw CLI::ValidationError("explain", "needs ids of rows, or a command after `--`, and not both");
    if (!line.job.command.empty()) refuse_rows(line, "explain -- COMMAND");
    refuse_options(line, "explain", {"--only", "--trace", "--wrap", "--dry-run", "--accuracy"});
    line.action = [&line, explain](const Installation& installation) {
      if (line.job.command.empty()) return run_explain(installation, line.request, *explain, std::cout);
      line.job.within_s = explain->within_s;
      line.job.changes = explain->changes;
      return explain_job(installation, line.request, line.job, std::cout);
    };
  });
}
static const Command registered_explain(100, add_explain);

}  // namespace harness
