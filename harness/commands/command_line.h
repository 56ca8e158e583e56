// The command line. Each command has one file, which adds its options, sets its action and registers itself.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "harness/own_job/job_subject.h"
#include "harness/run/run.h"

namespace harness {

struct CommandLine {
  using Action = std::function<int(const Installation&)>;

  CLI::App app{
      "Trains slices of 300 timed batches, one change at a time, and reports the effect of each change."};
  Request request;                     // the options of a run
  JobRequest job;                      // a user's own training: its command is the words after `--`
  std::set<std::string> job_commands;  // that take one
  // Called after parsing; returns the exit code. The last command on the command line sets it.
  Action action;

  void set_action(CLI::App* command, const Action& of_command) {
    command->callback([this, of_command] { action = of_command; });
  }
};

// Registers a command of the program: `add` adds it. Commands stand in the help in the order of their places.
struct Command {
  Command(int place, void (*add)(CommandLine&)) { all().emplace(place, add); }
  static std::multimap<int, void (*)(CommandLine&)>& all() {
    static std::multimap<int, void (*)(CommandLine&)> commands;
    return commands;
  }
};

// Adds the options of a run and sets the action that runs the matrix, the default without a command. Commands
// that run something accept these options too, before or after their own (CLI11's fallthrough).
void add_run_options(CommandLine& line);

// Runs and reports; returns the exit code. Throws ConfigError or PreparationError before anything has run.
// `then_explain`: afterwards finds what binds each row that is OK, with records and report in the folder
// `explain` of the run's.
int run_matrix(const Installation& installation, const Request& request, bool then_explain,
               std::ostream& console);
// Runs the missing or failed rows of the run in request.out; `request` comes from continued_request().
int continue_matrix(const Installation& installation, const Request& request, Rerun rerun,
                    std::ostream& console);

// An option in seconds, written with its unit: 90s, 30m or 2h; above 0 unless `or_zero`.
void add_time_option(CLI::App& app, const std::string& name, double& seconds, const std::string& help,
                     bool or_zero = false);

extern const CLI::Validator kAboveZero;  // CLI11's own names a range of 300 digits

// Throws for options of a run that have no meaning for a command that chooses its own runs.
void refuse_options(const CommandLine& line, const std::string& command,
                    const std::vector<const char*>& options);
// Likewise for options that say which rows of which matrix run where, and for `more`.
void refuse_matrix(const CommandLine& line, const std::string& command, std::vector<const char*> more = {});
// Likewise for all options of rows, which a user's own job has none of, and for `more`.
void refuse_rows(const CommandLine& line, const std::string& command, std::vector<const char*> more = {});

// --junit, --prometheus, --otlp and --github.
void add_output_options(CLI::App& app, Request& request);

// Adds the options of commands that start a user's own job, which fill line.job. Options that the command
// adds after them belong to the same part of its help.
void add_job_options(CommandLine& line, CLI::App& command);

void add_fleet_submit(CommandLine& line, CLI::App& fleet);

}  // namespace harness
