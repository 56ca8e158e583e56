// compare and validate: compare runs with each other.
#include <iostream>

#include "harness/commands/command_line.h"
#include "harness/compare/compare_runs.h"
#include "harness/compare/validate.h"
#include "harness/stats/full_size.h"
#include "harness/stats/records.h"

namespace harness {

static void add_compare(CommandLine& line) {
  const auto asked = std::make_shared<RunsToCompare>();
  CLI::App* command = line.app.add_subcommand(
      "compare", "is B faster or slower than A, row by row; exit code 4 when a row is SLOWER");
  command->add_option("A", asked->a, "folder of a run")->required();
  command->add_option("B", asked->b, "folder of another run")->required();
  command->add_flag("--json", asked->as_json, "as JSON");
  command->add_option("--write", asked->out, "folder for comparison.txt, .md, .json and .html");
  line.set_action(command, [asked](const Installation& installation) {
    asked->noise = installation.noise();
    asked->project = installation.project;
    return compare_runs(*asked, std::cout);
  });
}
static const Command registered_compare(60, add_compare);

static int validate_run(const fs::path& run, const std::vector<fs::path>& references) {
  std::vector<Records> good;
  for (const fs::path& reference : references)
    good.push_back(at_full_size(read_records(reference, std::cerr)));
  const auto records = at_full_size(read_records(run, std::cerr));
  const Validation validation = validate(records, good);
  std::cout << console_text(validation_grid(validation));
  if (validation.checks.empty())
    for (const std::string& remark : validation.remarks) std::cout << remark << '\n';
  for (const std::string& odd : validation.odd) std::cout << "ODD: " << odd << '\n';
  if (validation.checks.empty() && validation.odd.empty()) {
    std::cout << "nothing could be checked\n";
    return base::kNothingRan;
  }
  if (validation.odd.empty())
    std::cout << (validation.remarks.empty() ? "no rank and no node is odd\n"
                                             : "no rank and no node of what was checked is odd\n");
  return validation.odd.empty() ? int(base::kAllGood) : int(base::kRegression);
}

static void add_validate(CommandLine& line) {
  struct Asked {
    fs::path run;
    std::vector<fs::path> references;
  };
  const auto asked = std::make_shared<Asked>();
  CLI::App* command = line.app.add_subcommand(
      "validate",
      "find ranks or nodes that are slower than those of good runs; exit code 4 when there is one");
  command->add_option("run", asked->run, "folder of the run")->required();
  command->add_option("--against", asked->references, "folders of good runs")->required();
  line.set_action(command,
                  [asked](const Installation&) { return validate_run(asked->run, asked->references); });
}
static const Command registered_validate(80, add_validate);

}  // namespace harness
