// history: lists, shows, compares, exports and imports nights, and follows a metric over them.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <iostream>
#include <sstream>

#include "harness/base/child_process.h"
#include "harness/base/file.h"
#include "harness/base/plain_text.h"
#include "harness/commands/command_line.h"
#include "harness/nightly/history_report.h"
#include "harness/nightly/night_summary.h"
#include "harness/nightly/nightly.h"
#include "harness/nightly/trend_page.h"

namespace harness {
namespace {

struct Asked {
  fs::path history, file;
  std::string since = ":", machine, tag, a, b, metric = kTotalSeconds;
  bool as_json = false;
};

void print_as(bool as_json, const nlohmann::json& object, const Grid& grid) {
  std::cout << (as_json ? object.dump(1) + '\n' : console_text(grid));
}

int list(const Installation&, const History& history, const Asked& asked) {
  const std::vector<Night> nights = history.between(asked.since);
  if (asked.as_json)
    std::cout << history_json(nights).dump(1) << '\n';
  else if (nights.empty())
    fmt::print("{}: no night{}\n", history.folder().string(),
               asked.since == ":" ? " yet" : " in " + asked.since);
  else
    std::cout << console_text(history_grid(nights));
  return base::kAllGood;
}

int show(const Installation&, const History& history, const Asked& asked) {
  const Night& night = history.find(asked.a);
  print_as(asked.as_json, encode(night), night_grid(night));
  return base::kAllGood;
}

int compare_two(const Installation& installation, const History& history, const Asked& asked) {
  const Night &a = history.find(asked.a), &b = history.find(asked.b);
  const NightComparison compared = compare_nights(a, b, installation.noise(), std::cerr);
  print_as(asked.as_json, comparison_json(compared.comparison), night_comparison_grid(compared, a, b));
  if (compared.comparison.rows.empty())
    fmt::print(std::cerr, "no row is in both nights: `history show NIGHT` lists the rows of a night\n");
  return compared.comparison.exit_code();
}

// Doesn't note what it reports: the next nightly reports it too.
int trend(const Installation& installation, const History& history, const Asked& asked) {
  const Metric& metric = followed_metric(asked.metric);
  std::vector<Night> nights = history.nights();
  // Nights of rows with `validation` alone, which nights don't compare.
  while (!nights.empty() && nights.back().rows.empty()) nights.pop_back();
  const auto has_metric = [&](const Night& night) {
    return std::ranges::any_of(night.rows,
                               [&](const NightRow& row) { return value_of(row, metric).has_value(); });
  };
  if (nights.empty() || !has_metric(nights.back())) {
    const auto latest = std::find_if(nights.rbegin(), nights.rend(), has_metric);
    fmt::print(std::cerr, "{}: {}; `./run_matrix nightly` adds a night with it\n", history.folder().string(),
               latest == nights.rend()
                   ? fmt::format("no night has {}", metric.name)
                   : fmt::format("no row of the last night, {}, has {}; the last one that has is {}",
                                 nights.back().id, metric.name, latest->id));
    return base::kNothingRan;
  }
  const char* between = asked.machine.empty() || asked.tag.empty() ? "" : " ";
  const std::string restricted = asked.machine + between + asked.tag;
  Analysis analysis;
  try {
    analysis = analyse(nights, nights.back(), installation.noise(), installation.project, std::cerr, metric);
  } catch (const std::runtime_error& error) {
    fmt::print(std::cerr, "run_matrix: {}\n", error.what());
    return base::kRowFailed;
  }
  std::cout << changes_summary(analysis, analysis.alarms, analysis.improvements, metric);
  write_trend_page(history.folder(), analysis.trends, analysis.alarms, nights, installation.project,
                   std::cout, metric, restricted);
  return regressions(analysis.alarms) > 0 ? int(base::kRegression) : int(base::kAllGood);
}

int export_to(const Installation&, const History& history, const Asked& asked) {
  if (asked.file == "-") return export_nights(history.between(asked.since), std::cout), int(base::kAllGood);
  std::ostringstream output;
  const size_t exported = export_nights(history.between(asked.since), output);
  base::remove_drafts_of(asked.file);
  base::write_whole_file(asked.file, output.str());
  fmt::print("{} in {}\n", base::counted(int64_t(exported), "night"), asked.file.string());
  return base::kAllGood;
}

int import_from(const Installation& installation, const Asked& asked) {
  const Imported imported =
      import_nights(history_folder(installation, asked.history), asked.file, installation.project, std::cerr);
  fmt::print("{} added, {} there already, {} left out\n", base::counted(int64_t(imported.added), "night"),
             imported.known, base::counted(int64_t(imported.bad), "line"));
  if (imported.added + imported.known > 0) return base::kAllGood;
  fmt::print(std::cerr, "{}: contains no night; name a file that `history export` wrote\n",
             asked.file.string());
  return base::kBadInput;
}

// What the history's files are made of is Python's: compact and query take their words as they are.
int in_python(const Installation& installation, const fs::path& history, const char* action,
              const std::vector<std::string>& words) {
  base::Command command = parquet_history(installation.project, action, history);
  command.arguments.insert(command.arguments.end(), words.begin(), words.end());
  const base::Finished finished = base::run_to_end(command);
  std::cout << finished.output;
  return finished.exit_code;
}

// Commands other than import need an existing one.
History open_history(const Installation& installation, const Asked& asked) {
  const fs::path folder = history_folder(installation, asked.history);
  if (!fs::is_directory(folder))
    throw PreparationError(
        folder.string() + ": no history; `./run_matrix nightly` creates one, --history names another folder");
  History history(folder, std::cerr, installation.project);
  history.narrow(asked.machine, asked.tag);
  return history;
}

}  // namespace

static void add_history(CommandLine& line) {
  const auto asked = std::make_shared<Asked>();
  CLI::App* history = line.app.add_subcommand(
      "history", "list, show, compare, export and import nights, and follow a metric over them");
  history->require_subcommand(1);
  history->add_option("--history", asked->history, "folder of the history (default results/history)");
  history->add_option("--machine", asked->machine, "only nights whose machine or host contains this text");
  history->add_option("--tag", asked->tag, "only nights with this tag");
  const auto add_action = [&](const char* name, const char* help, const CommandLine::Action& action) {
    CLI::App* command = history->add_subcommand(name, help);
    command->fallthrough();
    line.set_action(command, action);
    return command;
  };
  const auto add = [&](const char* name, const char* help, auto action) {
    return add_action(name, help, [asked, action](const Installation& installation) {
      return action(installation, open_history(installation, *asked), *asked);
    });
  };
  const auto add_since = [&](CLI::App* command) {
    command->add_option("--since", asked->since, "FROM:TO, either may be empty: 2026-01-01:now, now-30d:");
  };
  const char* which = "an id, a tag, a date (2026-01-31), yesterday, last or last-N";

  CLI::App* command = add("list", "list the nights, one per line", list);
  add_since(command);
  command->add_flag("--json", asked->as_json, "as JSON");
  command = add("show", "show one night", show);
  command->add_option("night", asked->a, which)->required();
  command->add_flag("--json", asked->as_json, "as JSON");
  command =
      add("compare", "is night B faster or slower than A; exit code 4 when a row is SLOWER", compare_two);
  command->add_option("A", asked->a, which)->required();
  command->add_option("B", asked->b, which)->required();
  command->add_flag("--json", asked->as_json, "as JSON");
  command = add(
      "trend", "search lasting changes of a metric and draw it by night; exit code 4 when a row became worse",
      trend);
  command->add_option("--metric", asked->metric,
                      "a metric that `list --metrics` marks as followed (default total_s)");
  command = add("export", "write nights as JSON lines", export_to);
  command->add_option("file", asked->file, "file to write, - for the console")->required();
  add_since(command);
  command =
      add_action("import", "add nights that `history export` wrote",
                 [asked](const Installation& installation) { return import_from(installation, *asked); });
  command->add_option("file", asked->file, "JSON lines")->required();
  const auto words = std::make_shared<std::vector<std::string>>();
  const auto add_python = [&](const char* name, const char* help) {
    return add_action(name, help, [asked, words, name](const Installation& installation) {
      return in_python(installation, history_folder(installation, asked->history), name, *words);
    });
  };
  const auto hand_over = [words](const std::string& option) {
    return [words, option] { words->push_back(option); };
  };
  add_python("compact", "put the nights of past days into Parquet files, a file per day")
      ->add_flag_callback("--all", hand_over("--all"), "today's, too");
  command = add_python("query", "a table by one of its views, or by --sql; without both it lists the views");
  command->add_option_function<std::vector<std::string>>(
      "view", [words](const auto& view) { words->insert(words->end(), view.begin(), view.end()); },
      "a view and its arguments, NAME=VALUE");
  command->add_option_function<std::string>(
      "--sql", [words](const std::string& sql) { words->push_back("--sql=" + sql); }, "SELECT ...");
  command->add_flag_callback("--json", hand_over("--json"), "as JSON");
}
static const Command registered_history(150, add_history);

}  // namespace harness
