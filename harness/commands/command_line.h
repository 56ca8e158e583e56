// The command line in parts: each command is one file here that adds its words and says what to do.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

#include "harness/run/run.h"

namespace harness {

struct CommandLine {
  CLI::App app{
      "Trains slices of 300 timed batches, one change at a time, and says what each change was worth."};
  Request request;  // what the options of a run said
  // What to do once everything is read; returns the exit code. The last command named sets it.
  std::function<int(const Installation&)> action;
};

// What a run can be told, and running itself: the action unless a command is named. Commands that run
// something take these options too, before or after their own (CLI11's fallthrough).
void add_run_options(CommandLine& line);

// Runs the request's matrices and reports. Throws ConfigError or PreparationError before anything has run.
// Returns the exit code.
int run_matrix(const Installation& installation, const Request& request, std::ostream& console);
// The same for what a run in request.out still lacks; `request` is continued_request().
int continue_matrix(const Installation& installation, const Request& request, Rerun rerun,
                    std::ostream& console);

void add_list(CommandLine& line);
void add_report(CommandLine& line);
void add_compare(CommandLine& line);
void add_ab(CommandLine& line);
void add_validate(CommandLine& line);
void add_nightly(CommandLine& line);
void add_history(CommandLine& line);

}  // namespace harness
