// ab: runs two settings of the same rows side by side in random order and compares them.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <set>

#include "harness/base/failure_text.h"
#include "harness/base/interrupt.h"
#include "harness/base/json_text.h"
#include "harness/base/machine.h"
#include "harness/base/stopwatch.h"
#include "harness/commands/command_line.h"
#include "harness/compare/compare_runs.h"
#include "harness/compare/comparison.h"
#include "harness/compare/noise.h"
#include "harness/launch/followers.h"
#include "harness/own_job/job_commands.h"
#include "harness/plan/prediction.h"
#include "harness/stats/effect.h"
#include "harness/stats/full_size.h"
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
  const base::Finished finished = base::run_to_end({{build / "run_matrix", "--version"}});
  RecordBuild described;
  described.revision = "another build";
  const json object = base::parse_json(finished.output);
  return object.is_object() ? decode<RecordBuild>(object) : described;
}

const PlannedRow* row_of(const std::vector<PlannedRow>& plan, const std::string& id) {
  const auto found = std::ranges::find_if(plan, [&](const auto& planned) { return planned.row.id == id; });
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

// Both sides with the same rows, ready to run. The executions refer to the other members.
struct Experiment {
  // Throws ConfigError or PreparationError. After Ctrl-C, `b` is null.
  Experiment(const Installation& installation, const Request& request, const Sides& sides);
  Experiment(const Experiment&) = delete;

  const fs::path folder;  // with the sides' folders A and B
  const Installation installation_b;
  Request request_a, request_b;
  const AxisValues values_a, values_b;
  std::unique_ptr<Execution> a, b;
  std::vector<Prediction> of_rows;
};

Experiment::Experiment(const Installation& installation, const Request& request, const Sides& sides)
    : folder(request.out),
      installation_b(other_build(installation, sides.build_b)),
      request_a(request),
      request_b(request),
      values_a(ask_values(installation)),
      values_b(ask_values(installation_b)) {
  request_a.out = folder / "A";
  request_b.out = folder / "B";
  request_a.set.insert(request_a.set.end(), sides.set_a.begin(), sides.set_a.end());
  request_b.set.insert(request_b.set.end(), sides.set_b.begin(), sides.set_b.end());
  if (!sides.configs_b.empty()) request_b.configs = sides.configs_b;
  a = Execution::prepare(installation, request_a, values_a);
  if (a) b = Execution::prepare(installation_b, request_b, values_b);
  if (!b) return;
  check_partners(*a, *b);
  if (!sides.build_b.empty()) b->set_build(build_of(sides.build_b));
  of_rows = schedule_of(installation, request_a, *a).of_rows;
}

// Blocks of runs: in each, every row runs once on each side, in random order.
class Blocks {
 public:
  // `until_s`: blocks follow until every row has a verdict or this time is over; 0: all `blocks` run.
  Blocks(const Experiment& experiment, int64_t blocks, double until_s)
      : experiment_(experiment),
        blocks_(blocks),
        until_s_(until_s),
        order_(until_s > 0 ? std::vector<size_t>() : order_of(experiment.a->plan().size(), blocks)),
        time_(experiment.of_rows, order_),
        line_(order_.size(), [this](double running_s, double left_s) {
          return until() ? std::max(0.0, until_s_ - watch_.s() - left_s)
                         : time_.rest_s(watch_.s() + left_s, running_s);
        }) {}

  std::string described() const {
    double all_s = until_s_;
    for (const size_t row : order_) all_s += time_.run_s(row);
    return fmt::format("{} rows, {} of A and B in random order, {} {}; records: {}\n",
                       experiment_.a->plan().size(),
                       until() ? std::string("blocks") : fmt::format("{} blocks", blocks_),
                       until() ? "until there are verdicts or for" : "about", duration_text(all_s),
                       experiment_.folder.string());
  }

  // Returns false after Ctrl-C.
  bool run() {
    const std::vector<PlannedRow>& plan = experiment_.a->plan();
    for (int64_t block = 0; block < blocks_ && decided_.size() < plan.size(); ++block) {
      for (size_t row = 0; row < plan.size(); ++row) {
        if (decided_.count(plan[row].row.id)) continue;
        if (until() && block > 0 && watch_.s() + 2 * time_.run_s(row) > until_s_) return true;
        if (!run_both(row, block)) return false;
      }
      if (until() && is_look(size_t(block) + 1)) find_decided();
    }
    return true;
  }

 private:
  static std::vector<size_t> order_of(size_t rows, int64_t blocks) {
    std::vector<size_t> order;
    for (int64_t block = 0; block < blocks; ++block)
      for (size_t row = 0; row < rows; ++row) order.insert(order.end(), 2, row);
    return order;
  }
  bool until() const { return until_s_ > 0; }

  bool run_both(size_t row, int64_t block) {
    const bool a_first = random_() % 2 == 0;
    Execution &a = *experiment_.a, &b = *experiment_.b;
    return a_first ? run_side(a, "A", row, block, true) && run_side(b, "B", row, block, false)
                   : run_side(b, "B", row, block, true) && run_side(a, "A", row, block, false);
  }

  bool run_side(Execution& side, const char* name, size_t row, int64_t block, bool first) {
    const base::Stopwatch watch;
    line_.set_label(fmt::format("side {}", name));
    const PlannedRow& planned = *row_of(side.plan(), experiment_.a->plan()[row].row.id);
    const std::string experiment = experiment_.folder.filename();
    const bool ran =
        side.run(planned, block, line_, {.pair = RecordPair{experiment, name, block, first, until()}});
    time_.ended(row, watch.s());
    return ran;
  }

  // Rows that need no more pairs: they have a verdict, or can't have one.
  void find_decided() {
    decided_.clear();
    const Records a = at_full_size(experiment_.a->records()), b = at_full_size(experiment_.b->records());
    if (!noise_)
      noise_ = read_noise(experiment_.installation_b.noise(), machine_fingerprint(record_of_machine(a)),
                          std::cerr);
    for (const RowComparison& row : compare(a, b, *noise_).rows)
      if (!row.refused.empty() || row.verdict != RowVerdict::undecided) decided_.insert(row.id);
  }

  const Experiment& experiment_;
  const int64_t blocks_;
  const double until_s_;
  const std::vector<size_t> order_;  // row of each run; empty with until_s
  TimeLeft time_;
  const base::Stopwatch watch_;
  LiveLine line_;
  std::mt19937 random_{std::random_device{}()};
  std::set<std::string> decided_;
  std::optional<Noise> noise_;  // this machine's, from earlier A/A experiments
};

void keep_noise(const Experiment& experiment, const fs::path& folder) {
  Records all = experiment.a->records();
  all.insert(all.end(), experiment.b->records().begin(), experiment.b->records().end());
  if (const Noise measured = noise_of(all); !measured.empty()) append_noise(folder, measured);
}

// Runs each row in request.repeats blocks (default 9), writes records with the key `pair` to OUT/A and OUT/B
// and compares the sides. An A/A experiment is added to the machine's noise in results/noise. Throws
// ConfigError or PreparationError before anything has run.
int run_ab(const Installation& installation, const Request& request, const Sides& sides,
           std::ostream& console) {
  const bool until = sides.until_s > 0;
  if (until && request.repeats > 0)
    throw PreparationError(
        "--until and --repeat: results decide the number of blocks, or you; leave one out");
  if (request.dry_run)
    throw PreparationError("ab has no --dry-run: check each side with --set and --dry-run, without ab");
  refuse_followers(request, "ab");
  Experiment experiment(installation, request, sides);
  if (!experiment.b) return base::kInterrupted;
  Blocks blocks(experiment,
                until                 ? kMostBlocks
                : request.repeats > 0 ? request.repeats
                                      : kBlocks,
                sides.until_s);
  std::cerr << blocks.described();
  bool whole = true;
  bool kept = base::survives([&] { whole = blocks.run(); });  // if not, what was measured is compared
  // A number of pairs that results decide would be biased.
  if (sides.same() && whole && !until && kept)
    kept = base::survives([&] { keep_noise(experiment, installation.noise()); });
  const fs::path& folder = experiment.folder;
  int code = base::kRowFailed;
  const bool compared = base::survives([&] {
    code = compare_runs(
        {folder / "A", folder / "B", folder, false, installation.noise(), installation.project}, console);
  });
  if (!whole || base::interrupted()) return base::kInterrupted;
  if (!kept || !compared) return base::kRowFailed;
  const auto failed = [](const auto& side) { return exit_code_of(side->records()) == base::kRowFailed; };
  return failed(experiment.a) || failed(experiment.b) ? int(base::kRowFailed) : code;
}

}  // namespace

static void add_ab(CommandLine& line) {
  const auto sides = std::make_shared<Sides>();
  CLI::App* command = line.app.add_subcommand(
      "ab",
      "run two settings side by side in random order, 9 times each, then compare; with equal sides: measure "
      "this machine's noise. With `-- COMMAND --- COMMAND`: two of your own PyTorch trainings "
      "(docs/own_job.md)");
  command->fallthrough();
  command->add_option("--set-a", sides->set_a, "field=value for side A")->allow_extra_args(false);
  command->add_option("--set-b", sides->set_b, "field=value for side B")->allow_extra_args(false);
  command->add_option("--config-b", sides->configs_b, "another matrix for side B")->check(CLI::ExistingFile);
  command->add_option("--build-b", sides->build_b, "build folder of another revision for side B")
      ->check(CLI::ExistingDirectory);
  add_time_option(
      *command, "--until", sides->until_s,
      "time for more and more blocks, e.g. 10m, until every row has a verdict; in place of --repeat");
  add_job_options(line, *command);
  command->callback([&line, sides] {
    Words& words = line.job.command;
    const auto between = std::ranges::find(words, "---");
    if (!words.empty() && (between == words.end() || !sides->same() || sides->until_s > 0))
      throw CLI::ValidationError(
          "ab -- COMMAND --- COMMAND",
          "needs two commands with --- between them, and no settings of sides or --until");
    Words second;
    const bool of_jobs = !words.empty();
    if (of_jobs) {
      refuse_rows(line, "ab -- COMMAND --- COMMAND");
      second.assign(between + 1, words.end());
      words.erase(between, words.end());
    }
    line.action = [&line, sides, of_jobs, second](const Installation& installation) {
      Request request = line.request;
      if (request.out.empty()) request.out = installation.results / "ab" / base::time_and_host();
      return of_jobs ? compare_jobs(installation, request, line.job, second, std::cout)
                     : run_ab(installation, request, *sides, std::cout);
    };
  });
}
static const Command registered_ab(70, add_ab);

}  // namespace harness
