#include "harness/compare/ab.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <random>

#include "harness/base/json_text.h"
#include "harness/compare/comparison.h"
#include "harness/compare/comparison_page.h"
#include "harness/stats/records.h"
#include "harness/base/interrupt.h"
#include "harness/base/machine.h"
#include "harness/report/table.h"

namespace harness {
namespace {

using nlohmann::json;

constexpr int64_t kBlocks = 9;  // power 0.9 for 2 % where runs scatter by 1 % (statistics of the README)

fs::path experiment_folder(const Workshop& workshop, const Request& request) {
  return request.out.empty() ? workshop.results / "ab" / time_and_host() : request.out;
}

Workshop other_build(const Workshop& workshop, const fs::path& build) {
  Workshop other = workshop;
  if (build.empty()) return other;
  other.train_slice = fs::absolute(build) / "train_slice";
  if (!fs::exists(other.train_slice))
    throw PreparationError(
        fmt::format("{}: no such program; --build-b takes a build folder, e.g. of another "
                    "revision: cmake --preset release && cmake --build build/release there",
                    other.train_slice.string()));
  return other;
}

RecordBuild build_of(const fs::path& build) {
  const Finished finished = run_to_end({{build / "run_matrix", "--version"}, {}, {}, {}, {}});
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
            fmt::format("row {} isn't on side {}: both sides need the same rows; choose them with "
                        "--only",
                        planned.row.id, name));
}

// One run of a row on either side, in an order that chance decides; false when Ctrl-C ended it.
bool run_block(Execution& a, Execution& b, const PlannedRow& planned, int64_t block,
               const std::string& experiment, std::mt19937& random, LiveLine& line) {
  const bool a_first = random() % 2 == 0;
  const auto run = [&](Execution& side, const char* name, bool first) {
    return side.run(*row_of(side.plan(), planned.row.id), block, line, RecordPair{experiment, name, block, first});
  };
  return a_first ? run(a, "A", true) && run(b, "B", false) : run(b, "B", true) && run(a, "A", false);
}

}  // namespace

int run_ab(const Workshop& workshop, const Request& request, const Sides& sides, std::ostream& console) {
  const fs::path folder = experiment_folder(workshop, request);
  const Workshop workshop_b = other_build(workshop, sides.build_b);
  Request request_a = request, request_b = request;
  request_a.out = folder / "A";
  request_b.out = folder / "B";
  request_a.set.insert(request_a.set.end(), sides.set_a.begin(), sides.set_a.end());
  request_b.set.insert(request_b.set.end(), sides.set_b.begin(), sides.set_b.end());
  if (!sides.configs_b.empty()) request_b.configs = sides.configs_b;
  const AxisValues values = ask_values(workshop), values_b = ask_values(workshop_b);
  if (request.dry_run)
    throw PreparationError("ab has no --dry-run: try the rows of each side with --set alone");
  const auto a = Execution::prepare(workshop, request_a, values);
  const auto b = a ? Execution::prepare(workshop_b, request_b, values_b) : nullptr;
  if (!a || !b) return kInterrupted;
  check_partners(*a, *b);
  if (!sides.build_b.empty()) b->set_build(build_of(sides.build_b));

  const int64_t blocks = request.repeats > 0 ? request.repeats : kBlocks;
  fmt::print(std::cerr, "{} rows, {} blocks of A and B in random order; records: {}\n", a->plan().size(),
             blocks, folder.string());
  LiveLine line(a->plan().size() * size_t(blocks) * 2, isatty(STDERR_FILENO));
  std::mt19937 random(std::random_device{}());
  bool going = true;
  for (int64_t block = 0; going && block < blocks; ++block)
    for (const PlannedRow& planned : a->plan())
      going = going && run_block(*a, *b, planned, block, folder.filename(), random, line);

  if (sides.same() && going) {
    Records all = a->records();
    all.insert(all.end(), b->records().begin(), b->records().end());
    if (const Noise noise = noise_of(all); !noise.empty())
      append_noise(workshop.results / "noise", noise, all.front().started_at);
  }
  const int code = compare_runs(workshop, folder / "A", folder / "B", folder, false, console);
  if (!going) return kInterrupted;
  const int failed = std::max(exit_code_of(a->records()), exit_code_of(b->records()));
  return failed == kRowFailed ? int(kRowFailed) : code;
}

int compare_runs(const Workshop& workshop, const fs::path& a, const fs::path& b, const fs::path& out,
                 bool as_json, std::ostream& console) {
  const Records records_a = read_records(a, std::cerr), records_b = read_records(b, std::cerr);
  for (const auto& [folder, records] : {std::pair{&a, &records_a}, std::pair{&b, &records_b}})
    if (records->empty()) {
      fmt::print(std::cerr, "{}: no usable record, nothing to compare\n", folder->string());
      return kNothingRan;
    }
  const Noise noise =
      read_noise(workshop.results / "noise", machine_fingerprint(records_a.front()), std::cerr);
  const Comparison comparison = compare(records_a, records_b, noise);
  const Grid grid = comparison_grid(comparison, a.string(), b.string());
  const std::string text = console_text(grid), described = comparison_json(comparison).dump(1) + "\n";
  if (as_json)
    console << described;
  else
    console << text;
  if (!out.empty()) {
    fs::create_directories(out);
    write_text(out / "comparison.txt", text);
    write_text(out / "comparison.md", markdown_text(grid, 2));
    write_text(out / "comparison.json", described);
    write_comparison_page(out / "comparison.html", comparison, a.string(), b.string(), workshop.project,
                          as_json ? std::cerr : console);
  }
  if (comparison.rows.empty())
    fmt::print(std::cerr, "no row is in both: A has {}; B has {}\n", fmt::join(comparison.only_in_a, ", "),
               fmt::join(comparison.only_in_b, ", "));
  if (comparison.compared() == 0) return kNothingRan;
  return comparison.any(Verdict::slower) ? int(kRegression) : int(kAllGood);
}

}  // namespace harness
