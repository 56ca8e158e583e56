// run_matrix: parses the command line and calls the action of its command.
#include <fmt/format.h>

#include <iostream>
#include <sstream>

#include "harness/base/failure_text.h"
#include "harness/base/interrupt.h"
#include "harness/base/plain_text.h"
#include "harness/base/program_start.h"
#include "harness/commands/command_line.h"
#include "harness/config/nearest.h"
#include "harness/contract/machine.h"

using namespace harness;

// "did you mean" for each unknown option, from those of the program and of its chosen command.
static std::string suggestions(const CLI::App& app) {
  std::vector<std::string> known;
  const auto add_options_of = [&](const CLI::App* one) {
    for (const CLI::Option* option : one->get_options())
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  };
  add_options_of(&app);
  for (const CLI::App* command : app.get_subcommands()) add_options_of(command);
  std::string text;
  for (const std::string& word : app.remaining(true))
    if (const std::string name = word.substr(0, word.find('=')); name.rfind("--", 0) == 0)
      if (const std::string closest = nearest(name, known); !closest.empty())
        text += fmt::format("{}: did you mean {}?\n", name, closest);
  return text;
}

// It would be read as the file of a matrix.
static void refuse_misspelt_command(const CommandLine& line) {
  std::vector<std::string> commands;
  for (const CLI::App* command : line.app.get_subcommands({})) commands.push_back(command->get_name());
  for (const fs::path& config : line.request.configs)
    if (const std::string closest = nearest(config.string(), commands);
        !fs::exists(config) && !closest.empty())
      throw std::runtime_error(
          fmt::format("{}: no such command or file; did you mean {}?", config.string(), closest));
}

// How many words are for this program: a command of the user's follows `--` after the commands that take one.
// Elsewhere `--` ends the options, as CLI11 reads it.
static int own_words(const CommandLine& line, int argc, char** argv) {
  bool takes_job = false;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--") return takes_job ? i : argc;
    takes_job = takes_job || line.job_commands.contains(word);
  }
  return argc;
}

int main(int argc, char** argv) {
  base::start_program();
  CommandLine line;
  add_run_options(line);
  for (const auto& [place, add] : Command::all()) add(line);
  line.set_action(line.app.add_subcommand("doctor", "print what this machine has and lacks"),
                  [](const Installation& installation) {
                    std::cerr << "run_matrix: doctor is part of the script, not of this program; run "
                              << (installation.project / "run_matrix").string() << " doctor\n";
                    return int(base::kBadInput);
                  });
  line.app.set_version_flag(
      "--version", [] { return encode(describe_build()).dump(); }, "print the build as JSON");
  line.app.require_subcommand(0, 1);
  line.app.failure_message([](const CLI::App* app, const CLI::Error& error) {
    std::string words = "run_matrix";
    for (const CLI::App* command : app->get_subcommands()) words += " " + command->get_name();
    return fmt::format("{}: {}; `{} --help` lists what it takes\n", words, error.what(), words);
  });
  for (CLI::App* command : line.app.get_subcommands({}))
    if (command->get_fallthrough())
      command->footer(
          "Options of run_matrix itself, such as --only, --scale, --set and --out, may follow too.");
  const int own = own_words(line, argc, argv);
  if (own < argc) line.job.command.assign(argv + own + 1, argv + argc);
  try {
    line.app.parse(own, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream help, problem;
    const int code = line.app.exit(error, help, problem);
    std::cout << help.str();
    if (code != 0) std::cerr << base::plain_text(problem.str() + suggestions(line.app));
    return code == 0 ? base::kAllGood : base::kBadInput;
  }
  try {
    const Installation installation = find_installation();
    std::vector<fs::path>& configs = line.request.configs;
    refuse_misspelt_command(line);
    if (line.request.accuracy) configs.push_back(installation.project / "configs" / "accuracy.yaml");
    if (configs.empty()) configs = {installation.project / "configs" / "article.yaml"};
    return line.action(installation);
  } catch (const std::exception& error) {
    if (base::interrupted()) return base::kInterrupted;  // the interrupt caused the exception
    std::cerr << "run_matrix: " << base::plain_text(base::failure_text(error)) << '\n';
    return base::kBadInput;
  }
}
