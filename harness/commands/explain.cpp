// explain: what binds a row?
#include "harness/explain/explain.h"

#include <iostream>

#include "harness/commands/command_line.h"

namespace harness {

void add_explain(CommandLine& line) {
  const auto explain = std::make_shared<ExplainRequest>();
  CLI::App* command = line.app.add_subcommand(
      "explain",
      "what binds a row? Runs it with one thing changed at a time and measures what each gains. "
      "Exit codes: 0 measured, 3 nothing could be changed or compared, 1 a run failed");
  command->add_option("row", explain->rows, "ids of rows, or `all`")->required();
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
  command->fallthrough();
  command->callback([&line, explain] {
    for (const char* option : {"--only", "--trace", "--wrap", "--dry-run", "--accuracy"})
      if (line.app.count(option))
        throw CLI::ValidationError(option, "has no meaning for explain; leave it out");
    line.action = [&line, explain](const Installation& installation) {
      return run_explain(installation, line.request, *explain, std::cout);
    };
  });
}

}  // namespace harness
