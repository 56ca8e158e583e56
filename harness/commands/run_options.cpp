// Declares the command-line options of a run, and checks those of a continued run in the same way.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <set>

#include "harness/base/number.h"
#include "harness/commands/command_line.h"
#include "harness/config/hosts.h"
#include "harness/config/request.h"

namespace harness {

constexpr double kLongest_s = 1e9;

// CLI11's ranges accept "nan", which would switch off a limit.
static const CLI::Validator kSeconds(
    [](const std::string& text) {
      const double seconds = base::number_of<double>(text).value_or(-1);
      const bool good = seconds >= 0 && seconds <= kLongest_s;
      return good ? std::string() : "expected seconds from 0 to 1e9, found " + text;
    },
    "SECONDS");
const CLI::Validator kAboveZero(
    [](const std::string& text) {
      return base::number_of<double>(text).value_or(0) > 0 ? "" : "expected a number above 0, found " + text;
    },
    "NUMBER");
// An empty text is more likely an empty variable in a script than a request for every row.
static CLI::Validator not_blank(const std::string& otherwise, const char* what) {
  return CLI::Validator(
      [otherwise](const std::string& text) {
        return text.find_first_not_of(" \t\n") == std::string::npos ? otherwise : "";
      },
      what);
}

// The long names of the given options and positional arguments.
static std::set<std::string> given_options(const CLI::App& app) {
  std::set<std::string> given;
  for (const CLI::Option* option : app.get_options())
    if (option->count() > 0) given.insert(option->get_single_name());
  return given;
}

// Throws for the first of these options that was given.
static void refuse(const CLI::App& app, const std::vector<const char*>& options, const std::string& why) {
  for (const char* option : options)
    if (app.count(option)) throw CLI::ValidationError(option, why);
}

void refuse_options(const CommandLine& line, const std::string& command,
                    const std::vector<const char*>& options) {
  refuse(line.app, options,
         fmt::format("has no meaning for {}, which chooses its own runs; leave it out", command));
}

void refuse_matrix(const CommandLine& line, const std::string& command, std::vector<const char*> more) {
  more.insert(more.end(),
              {"config", "--scale", "--device", "--devices", "--trace", "--wrap", "--hosts", "--hostfile",
               "--launcher", "--interface", "--dry-run", "--accuracy", "--oversubscribe", "--list"});
  refuse_options(line, command, more);
}

void refuse_rows(const CommandLine& line, const std::string& command, std::vector<const char*> more) {
  more.insert(more.end(), {"--only", "--set", "--seed", "--data", "--port", "--timeout", "--hang-after",
                           "--repeat-within", "--skip-unreadable", "--labels-from"});
  refuse_matrix(line, command, more);
}

void add_time_option(CLI::App& app, const std::string& name, double& seconds, const std::string& help,
                     bool or_zero) {
  const auto to_seconds = [or_zero](std::string& text) -> std::string {
    static const std::map<char, double> units = {{'s', 1}, {'m', 60}, {'h', 3600}};
    const auto unit = text.empty() ? units.end() : units.find(text.back());
    std::string digits = text.substr(0, text.empty() ? 0 : text.size() - 1);
    digits.erase(digits.find_last_not_of(' ') + 1);
    const auto number = base::number_of<double>(digits);
    if (unit == units.end() || !number || *number < 0 || *number * unit->second > kLongest_s)
      return "expected a number and its unit s, m or h, such as 90s, 30m or 2h; found " + text;
    if (*number == 0 && !or_zero) return "a time of 0 fits no row";
    text = fmt::format("{}", *number * unit->second);
    return "";
  };
  app.add_option(name, seconds, help)->transform(CLI::Validator(to_seconds, "TIME"))->type_name("TIME");
}

// Throws unless the command line would accept every option of a continued run: request.json may have been
// edited.
static void check_as_command_line(const fs::path& run, const Request& request) {
  const nlohmann::json usual = encode(Request()), all = encode(request);
  std::vector<std::string> words;
  for (const auto& [name, value] : all.items()) {
    if (value == usual[name]) continue;
    const nlohmann::json list = value.is_array() ? value : nlohmann::json::array({value});
    for (const nlohmann::json& one : list) {
      const std::string text = one.is_string() ? one.get<std::string>() : one.dump();
      words.push_back(name == "config" ? text : "--" + name + (one.is_boolean() ? "" : "=" + text));
    }
    if (name == "repeat-within") words.back() += "s";
  }
  std::ranges::reverse(words);  // as CLI11 takes them
  CommandLine line;
  add_run_options(line);
  try {
    line.app.parse(words);
  } catch (const CLI::ParseError& error) {
    throw PreparationError(fmt::format("{}: damaged: {}; restore it, or start a new run",
                                       (run / "request.json").string(), error.what()));
  }
}

// --budget, --resume, --only-failed, --explain, and the default action.
static void add_default_action(CommandLine& line) {
  CLI::App& app = line.app;
  const auto missing = std::make_shared<fs::path>(), failed = std::make_shared<fs::path>();
  add_time_option(app, "--budget", line.request.budget_s,
                  "time for the rows, e.g. 90s, 30m or 2h: run the most informative rows that fit");
  const auto then_explain = std::make_shared<bool>(false);
  app.add_flag("--explain", *then_explain,
               "after the rows, find what binds each of them, at most ten minutes a row: as the command "
               "explain, in the folder `explain` of the run");
  const auto resume =
      app.add_option("--resume", *missing, "folder of a run: run its missing rows with the same options");
  app.add_option("--only-failed", *failed, "folder of a run: run its failed rows again")->excludes(resume);
  app.parse_complete_callback([&app] {
    if (app.count("--explain"))
      refuse(app, {"--resume", "--only-failed", "--trace", "--wrap", "--dry-run", "--accuracy"},
             "can't be combined with --explain; use the command explain");
    // The options of a continued run are checked without --list (check_as_command_line()).
    if (const CLI::Option* list = app.get_option_no_throw("--list"); list && list->count() > 0)
      refuse(
          app, {"--resume", "--only-failed"},
          "can't be combined with --list, which prints the rows of a matrix; --dry-run prints those of the "
          "run");
    const auto commands = app.get_subcommands();
    if (commands.empty()) return;
    const char* of_matrix = "is for running a matrix and can't be used with this command";
    refuse(app, {"--resume", "--only-failed", "--explain"}, of_matrix);
    if (commands[0]->get_name() == "nightly") return;
    refuse(app, {"--budget"}, of_matrix);
    refuse(app, {"--junit", "--prometheus", "--otlp", "--github"},
           "is for running a matrix, nightly and report, and can't be used with this command");
  });
  line.action = [&line, missing, failed, then_explain](const Installation& installation) {
    const fs::path& run = missing->empty() ? *failed : *missing;
    if (run.empty()) return run_matrix(installation, line.request, *then_explain, std::cout);
    const Request request = continued_request(run, line.request, given_options(line.app));
    check_as_command_line(run, request);
    return continue_matrix(installation, request, missing->empty() ? Rerun::failed : Rerun::missing,
                           std::cout);
  };
}

void add_output_options(CLI::App& app, Request& request) {
  app.add_option("--junit", request.junit,
                 "write rows, checks and claims as test cases of JUnit XML to this file");
  app.add_option("--prometheus", request.prometheus,
                 "write the rows' metrics for node_exporter's textfile collector to this file (NAME.prom)");
  app.add_option("--otlp", request.otlp, "write the same metrics as OpenTelemetry's OTLP/JSON to this file");
  app.add_flag("--github", request.github,
               "in a step of GitHub Actions: failures as annotations, the result as the step's summary");
}

void add_run_options(CommandLine& line) {
  CLI::App& app = line.app;
  Request& request = line.request;
  request.timeout_s = kUsualTimeout_s;
  app.add_option("config", request.configs, "matrices to run (default configs/article.yaml)");
  app.add_option("--only", request.only, "rows by id, comma separated; they run in the order of the matrix")
      ->join(',')
      ->check(not_blank("names no row; e.g. --only 7,12,lmdb", "ROWS"));
  app.add_option("--scale", request.scale,
                 "auto, rehearsal, article, emulated or smoke (configs/scales.yaml)");
  app.add_option(
      "--device", request.device,
      "cpu, cuda, emulated[:NAME] (configs/devices/NAME.yaml) or auto (default: cuda if there is a GPU, else "
      "emulated, or cpu with --scale smoke, rehearsal or article)");
  app.add_option("--devices", request.devices, "derive the multi-device rows anew for this many devices")
      ->check(CLI::Range(1, 1024));
  app.add_option(
      "--data", request.data,
      "folder with train/<class>/<image>.JPEG, or with tar, Arrow, Parquet or TFRecord files (default: "
      "stand-in images, made once)");
  app.add_option("--out", request.out, "folder of the run (default results/runs/<time>-<host>)");
  app.add_option("--seed", request.seed, "seed of weights, order, augmentation and stand-in images")
      ->check(CLI::Range(int64_t(0), (int64_t(1) << 53) - 1));
  app.add_option("--repeat", request.repeats,
                 "runs of every row, interleaved (default 1; with --accuracy 3 with different seeds)")
      ->check(CLI::Range(1, 1000));
  add_time_option(
      app, "--repeat-within", request.repeat_within_s,
      "time from the start in which rows run again (default 15m): disturbed ones, up to twice, and in a run of the "
      "whole matrix, or if this option is given, all rows (scale emulated) or the matrix's `repeated` rows (scale "
      "rehearsal) up to 5 times; 0s: none",
      true);
  app.add_flag("--keep-disturbed", request.keep_disturbed, "don't run disturbed rows again");
  app.add_option("--set", request.set, "field=value for every selected row, after scaling")
      ->allow_extra_args(false);
  app.add_option("--timeout", request.timeout_s,
                 "seconds that a row may take, 0: no limit, as by default for rows of --accuracy")
      ->check(kSeconds)
      ->capture_default_str();
  app.add_option("--hang-after", request.silence_s,
                 "end a row as HUNG after this many seconds without a finished batch (default: 60, and 600 "
                 "until the first batch; a given value is at least 30 there)")
      ->check(kSeconds);
  app.add_option("--launcher", request.launcher,
                 "local, mpirun, slurm or env (default: auto, from options and environment)")
      ->check(CLI::IsMember({"auto", "local", "mpirun", "slurm", "env"}));
  const auto hosts =
      app.add_option("--hosts", request.hosts, "nodes for mpirun with their number of ranks: a:4,b:4");
  hosts->check(hosts_problem);
  app.add_option("--hostfile", request.hostfile, "like --hosts, as a file in OpenMPI's format")
      ->check(CLI::ExistingFile)
      ->check(hostfile_problem)
      ->excludes(hosts);
  app.add_option("--interface", request.interface,
                 "network interface between nodes (default: each node finds it)");
  app.add_option("--port", request.port, "port on which rank 0 listens (default: a free port)")
      ->check(CLI::Range(1, 65535));
  app.add_option_function<std::string>(
         "--trace",
         [&request](const std::string& range) { request.trace = range.empty() ? "middle" : range; },
         "record timed batches A-B, counted from 0 (default: three in the middle), for ui.perfetto.dev")
      ->type_name("[A-B]")
      ->expected(0, 1);
  const auto wrap =
      app.add_option("--wrap", request.wrap,
                     "run one rank under this program, in the row's folder: \"perf stat -o perf.txt\"");
  wrap->type_name("COMMAND")->check(
      not_blank("names no program; e.g. --wrap \"strace -f -o strace.txt\"", ""));
  app.add_option("--wrap-rank", request.wrap_rank, "the rank that --wrap is for (default 0)")
      ->check(CLI::Range(0, 1 << 20))
      ->needs(wrap);
  const auto dry =
      app.add_flag("--dry-run", request.dry_run,
                   "print the plan, the claims that it can test, a command for each row and those of "
                   "its ranks, run nothing");
  app.add_option("--machine", request.machine,
                 "with --dry-run: plan for the machine that this file describes (cores: 32, memory_gib: 128)")
      ->needs(dry);
  app.add_flag("--oversubscribe", request.oversubscribe,
               "let ranks share a GPU, over gloo; tests that a row runs, says nothing about scaling");
  app.add_flag(
      "--skip-unreadable", request.skip_unreadable,
      "leave out images of --data in formats that are not decoded here (BMP, GIF, TIFF, WebP, ...), and "
      "accept classes without images");
  app.add_option("--labels-from", request.labels_from,
                 "number of the first class in --data's files: 1 for ImageNet's TFRecords")
      ->check(CLI::IsMember({"0", "1"}));
  app.add_flag_function(
      "--no-install", [](int64_t) {},
      "install and build nothing, list what is missing (handled by the script run_matrix)");
  add_output_options(app, request);
  app.add_flag(
      "--accuracy", request.accuracy,
      "train each precision on the same number of images and report its accuracy (adds configs/accuracy.yaml "
      "to the given matrices)");
  add_default_action(line);
}

}  // namespace harness
