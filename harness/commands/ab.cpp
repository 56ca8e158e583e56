// ab: runs two settings of the same rows side by side in random order and compares them.
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <random>
#include <set>

#include "harness/base/interrupt.h"
#include "harness/base/json_text.h"
#include "harness/base/machine.h"
#include "harness/commands/command_line.h"
#include "harness/compare/compare_runs.h"
#include "harness/compare/comparison.h"
#include "harness/compare/noise.h"
#include "harness/contract/machine.h"
#include "harness/plan/time_left.h"
#include "harness/stats/looks.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

using nlohmann::json;

struct Sides {
  std::vector<std::string> set_a, set_b;  // field=value for one side, applied after --set
  std::vector<fs::path> configs_b;        // matrices of B; empty: those of A
  double until_s = 0;                     // 0: a fixed number of blocks
  fs::path build_b;                       // folder with another run_matrix and train_slice; empty: this build

  // Whether the sides are equal (A/A experiment), which measures this machine's noise.
  bool same() const { return set_a.empty() && set_b.empty() && configs_b.empty() && build_b.empty(); }
};

constexpr int64_t kMostBlocks = 1000;
constexpr int64_t kBlocks = 9;  // power 0.9 for an effect of 2 % if runs scatter by 1 %

fs::path experiment_folder(const Installation& installation, const Request& request) {
  return request.out.empty() ? installation.results / "ab" / base::time_and_host() : request.out;
}

Installation other_build(const Installation& installation, const fs::path& build) {
  Installation other = installation;
  if (build.empty()) return other;
  other.train_slice = fs::absolute(build) / "train_slice";
  if (!fs::exists(other.train_slice))
    throw PreparationError(fmt::format(
        "{}: no such program; --build-b needs a build folder, e.g. of another revision: run cmake "
        "--preset release && cmake --build build/release there",
        other.train_slice.string()));
  return other;
}

RecordBuild build_of(const fs::path& build) {
  const base::Finished finished = base::run_to_end({{build / "run_matrix", "--version"}, {}, {}, {}, {}});
  RecordBuild described;
  described.revision = "another build";
  const json object = base::parse_json(finished.output);
  return object.is_object() ? decode<RecordBuild>(object) : described;
}

const PlannedRow* row_of(const std::vector<PlannedRow>& plan, const std::string& id) {
  const auto found =
      std::find_if(plan.begin(), plan.end(), [&](const auto& planned) { return planned.row.id == id; });
  return found == plan.end() ? nullptr : &*found;
}

void check_partners(const Execution& a, const Execution& b) {
  for (const auto& [side, other, name] : {std::tuple{&a, &b, "B"}, std::tuple{&b, &a, "A"}})
    for (const PlannedRow& planned : side->plan())
      if (!row_of(other->plan(), planned.row.id))
        throw PreparationError(
            fmt::format("row {} isn't on side {}: both sides need the same rows; choose them with --only",
                        planned.row.id, name));
}

struct Watched {
  LiveLine& line;
  TimeLeft& time;
};

size_t planned_index(const Execution& a, const PlannedRow& planned) {
  return size_t(&planned - a.plan().data());
}

// Ids of the rows that need no more pairs: they have a verdict, or can't have one.
std::set<std::string> decided_rows(const Execution& a, const Execution& b, const Noise& noise) {
  std::set<std::string> ids;
  for (const RowComparison& row : compare(a.records(), b.records(), noise).rows)
    if (!row.refused.empty() || row.verdict != Verdict::undecided) ids.insert(row.id);
  return ids;
}

// Runs a row once on each side in random order. Returns false after Ctrl-C.
bool run_block(Execution& a, Execution& b, const PlannedRow& planned, int64_t block,
               const std::string& experiment, bool until, std::mt19937& random, const Watched& watched) {
  const bool a_first = random() % 2 == 0;
  const auto run = [&](Execution& side, const char* name, bool first) {
    const auto began = std::chrono::steady_clock::now();
    watched.line.set_label(fmt::format("side {}", name));
    const PlannedRow* row = row_of(side.plan(), planned.row.id);
    const bool ran =
        side.run(*row, block, watched.line, {.pair = RecordPair{experiment, name, block, first, until}});
    watched.time.ended(planned_index(a, planned),
                       std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
    return ran;
  };
  return a_first ? run(a, "A", true) && run(b, "B", false) : run(b, "B", true) && run(a, "A", false);
}

// Runs each row in request.repeats blocks (default 9), writes records with the key `pair` to OUT/A and OUT/B
// and compares the sides. An A/A experiment is added to the machine's noise in results/noise. Throws
// ConfigError or PreparationError before anything has run.
int run_ab(const Installation& installation, const Request& request, const Sides& sides,
           std::ostream& console) {
  const fs::path folder = experiment_folder(installation, request);
  const Installation installation_b = other_build(installation, sides.build_b);
  Request request_a = request, request_b = request;
  request_a.out = folder / "A";
  request_b.out = folder / "B";
  request_a.set.insert(request_a.set.end(), sides.set_a.begin(), sides.set_a.end());
  request_b.set.insert(request_b.set.end(), sides.set_b.begin(), sides.set_b.end());
  if (!sides.configs_b.empty()) request_b.configs = sides.configs_b;
  if (sides.until_s > 0 && request.repeats > 0)
    throw PreparationError(
        "--until and --repeat: results decide the number of blocks, or you; leave one out");
  const AxisValues values = ask_values(installation), values_b = ask_values(installation_b);
  if (request.dry_run)
    throw PreparationError("ab has no --dry-run: check each side with --set and --dry-run, without ab");
  const auto a = Execution::prepare(installation, request_a, values);
  const auto b = a ? Execution::prepare(installation_b, request_b, values_b) : nullptr;
  if (!a || !b) return base::kInterrupted;
  check_partners(*a, *b);
  const Noise noise = read_noise(installation.results / "noise",
                                 machine_for(describe_machine(), a->plan().front().row.device), std::cerr);
  if (!sides.build_b.empty()) b->set_build(build_of(sides.build_b));

  const bool until = sides.until_s > 0;
  const int64_t blocks = until ? kMostBlocks : request.repeats > 0 ? request.repeats : kBlocks;
  const Schedule schedule = schedule_of(installation, request_a, *a);
  std::vector<size_t> order;
  for (int64_t block = 0; !until && block < blocks; ++block)
    for (size_t row = 0; row < a->plan().size(); ++row) order.insert(order.end(), 2, row);
  TimeLeft time(schedule.of_rows, order);
  const auto begin = std::chrono::steady_clock::now();
  const auto elapsed_s = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  double all_s = sides.until_s;
  for (size_t row : order) all_s += time.run_s(row);
  fmt::print(std::cerr, "{} rows, {} of A and B in random order, {} {}; records: {}\n", a->plan().size(),
             until ? std::string("blocks") : fmt::format("{} blocks", blocks),
             until ? "until there are verdicts or for" : "about", duration_text(all_s), folder.string());
  LiveLine line(order.size(), isatty(STDERR_FILENO), [&](double running_s, double left_s) {
    return until ? std::max(0.0, sides.until_s - elapsed_s() - left_s)
                 : time.rest_s(elapsed_s() + left_s, running_s);
  });
  std::mt19937 random(std::random_device{}());
  bool going = true;
  std::set<std::string> decided;
  const auto fits = [&](size_t row) { return !until || elapsed_s() + 2 * time.run_s(row) <= sides.until_s; };
  for (int64_t block = 0; going && block < blocks && decided.size() < a->plan().size(); ++block) {
    bool whole = true;
    for (const PlannedRow& planned : a->plan()) {
      if (!going || decided.count(planned.row.id)) continue;
      if (block > 0 && !fits(planned_index(*a, planned)))
        whole = false;
      else
        going = run_block(*a, *b, planned, block, folder.filename(), until, random, {line, time});
    }
    if (!whole) break;
    if (until && going && is_look(size_t(block) + 1)) decided = decided_rows(*a, *b, noise);
  }

  if (sides.same() && going && !until) {  // a number of pairs that results decide would be biased
    Records all = a->records();
    all.insert(all.end(), b->records().begin(), b->records().end());
    if (const Noise measured = noise_of(all); !measured.empty())
      append_noise(installation.results / "noise", measured, all.front().started_at);
  }
  const int code = compare_runs(
      {folder / "A", folder / "B", folder, false, installation.results / "noise", installation.project},
      console);
  if (!going) return base::kInterrupted;
  const int failed = std::max(exit_code_of(a->records()), exit_code_of(b->records()));
  return failed == base::kRowFailed ? int(base::kRowFailed) : code;
}

}  // namespace

void add_ab(CommandLine& line) {
  const auto sides = std::make_shared<Sides>();
  CLI::App* command = line.app.add_subcommand(
      "ab",
      "run two settings side by side in random order, 9 times each, then compare; with equal sides: measure "
      "this machine's noise");
  command->fallthrough();
  command->add_option("--set-a", sides->set_a, "field=value for side A")->allow_extra_args(false);
  command->add_option("--set-b", sides->set_b, "field=value for side B")->allow_extra_args(false);
  command->add_option("--config-b", sides->configs_b, "another matrix for side B")->check(CLI::ExistingFile);
  command->add_option("--build-b", sides->build_b, "build folder of another revision for side B")
      ->check(CLI::ExistingDirectory);
  add_time_option(
      *command, "--until", sides->until_s,
      "time for more and more blocks, e.g. 10m, until every row has a verdict; in place of --repeat");
  command->callback([&line, sides] {
    line.action = [&line, sides](const Installation& installation) {
      return run_ab(installation, line.request, *sides, std::cout);
    };
  });
}

}  // namespace harness
