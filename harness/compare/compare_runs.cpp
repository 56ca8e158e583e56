// Prints the comparison, writes it as text, Markdown, JSON and a page, and returns the exit code.
#include "harness/compare/compare_runs.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "harness/base/exit_code.h"
#include "harness/compare/comparison.h"
#include "harness/report/figures/figure.h"
#include "harness/report/page_file.h"
#include "harness/report/table.h"
#include "harness/stats/full_size.h"
#include "harness/stats/records.h"

namespace harness {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

Grid environment_grid(const Comparison& comparison) {
  Grid grid;
  grid.title = "Differences in the environment";
  grid.columns = {{"", true}, {"A", true}, {"B", true}};
  for (const Difference& it : comparison.environment) grid.rows.push_back({it.what, it.a, it.b});
  return grid;
}

// Each verdict with its rows; verdicts without rows are left out.
json verdict_facts(const Comparison& comparison) {
  json facts = json::array();
  for (const RowVerdict verdict :
       {RowVerdict::slower, RowVerdict::faster, RowVerdict::same, RowVerdict::undecided}) {
    std::vector<std::string> rows;
    for (const RowComparison& row : comparison.rows)
      if (row.refused.empty() && row.verdict == verdict) rows.push_back(row.id);
    if (!rows.empty())
      facts.push_back(
          {name_of(verdict),
           fmt::format("{} {}: {}", rows.size(), rows.size() == 1 ? "row" : "rows", fmt::join(rows, ", "))});
  }
  std::vector<std::string> refused;
  for (const RowComparison& row : comparison.rows)
    if (!row.refused.empty()) refused.push_back(row.id);
  if (!refused.empty()) facts.push_back({"Not compared", fmt::format("{}", fmt::join(refused, ", "))});
  return facts;
}

json first_blocks(const Comparison& comparison, const std::string& name_a, const std::string& name_b) {
  json blocks = json::array();
  if (comparison.across_machines)
    blocks.push_back(
        {{"mark", {"DIFFERENT MACHINES", "speed-ups of machine and software together, no verdicts"}}});
  if (comparison.compared() == 0)
    blocks.push_back({{"alarm", {"NOTHING COMPARED", "no row has a figure on both sides"}}});
  blocks.push_back({{"facts", Facts{{"A", name_a}, {"B", name_b}}}});
  if (comparison.environment.empty())
    blocks.push_back({{"lines", {"Same machine, system, libraries, build and data."}}});
  else
    blocks.push_back({{"grid", grid_json(environment_grid(comparison))}});
  if (const json facts = verdict_facts(comparison); !facts.empty()) blocks.push_back({{"facts", facts}});
  return blocks;
}

constexpr double kNarrowest = 0.06;   // the axis covers at least this deviation from 1
constexpr double kWidest = 3.0;       // the axis ends at the extreme ratios times this factor
constexpr double kRowHeight_px = 22;  // a chart as wide as its container can't have a height per row

FigureData ratios_data(const Comparison& comparison) {
  FigureData data;
  double low = 1 / (1 + kNarrowest), high = 1 + kNarrowest, least = 1, most = 1;
  for (const RowComparison& row : comparison.rows) {
    if (!row.refused.empty()) {
      data.values.push_back({{"row", row.id}, {"refused", row.refused.front()}});
      continue;
    }
    const Effect& effect = row.effect;
    data.values.push_back(
        {{"row", row.id},
         {"verdict", row.verdict == RowVerdict::no_verdict ? "no verdict" : name_of(row.verdict)},
         {"reason", row.reason},
         {"ratio", effect.ratio},
         {"low", effect.low},
         {"high", effect.high},
         {"coverage", effect.coverage},
         {"margin", row.margin},
         {"runs", fmt::format("{}+{}{}", effect.a, effect.b, effect.paired ? ", side by side" : "")},
         {"a_s", row.a_s},
         {"b_s", row.b_s}});
    least = std::min(least, effect.ratio);
    most = std::max(most, effect.ratio);
    low = std::min({low, effect.low, 1 / (1 + 1.5 * row.margin)});
    high = std::max({high, effect.high, 1 + 1.5 * row.margin});
  }
  const double room = std::pow(high / low, 0.03);
  data.params = {{"verdicts", !comparison.across_machines},
                 {"shaded", comparison.across_machines ? "" : "; shaded: within the margin"},
                 {"lowest", std::max(low, least / kWidest) / room},
                 {"highest", std::min(high, most * kWidest) * room},
                 {"height", kRowHeight_px * double(comparison.rows.size())}};
  return data;
}

// Phases in their order in a step, not by size, so that every row stacks them alike.
FigureData differences_data(const Comparison& comparison) {
  FigureData data;
  for (const RowComparison& row : comparison.rows) {
    if (!row.refused.empty()) continue;
    data.values.push_back(
        {{"row", row.id},
         {"label", row.phases.empty() ? "the same"
                                      : fmt::format("{:+.1f} %, most of it {}", 100 * (row.b_s / row.a_s - 1),
                                                    row.phases.front().phase)}});
    for (const std::string& phase : phase_names())
      for (const PhaseChange& change : row.phases)
        if (change.phase == phase)
          data.values.push_back(
              {{"row", row.id}, {"phase", phase}, {"ms", change.ms}, {"share", change.share}});
  }
  data.params = {{"height", kRowHeight_px * double(comparison.compared())}};
  return data;
}

}  // namespace

void write_comparison_page(const fs::path& file, const Comparison& comparison, const std::string& name_a,
                           const std::string& name_b, const fs::path& source_dir, std::ostream& console) {
  PageFile page;
  add_drawing_library(page, source_dir, "No figures");
  page.without_script = "the file comparison.txt in the same folder has the tables";
  page.page["title"] = "B against A";
  const auto add = [&](const std::string& title, json blocks) {
    page.page["sections"].push_back(section(title, std::move(blocks)));
  };
  add("answer", first_blocks(comparison, name_a, name_b));
  if (!comparison.rows.empty()) {
    Grid grid = comparison_grid(comparison, name_a, name_b);
    grid.title = "";
    grid.above.clear();  // the first section has the same lines
    add("verdicts", json::array({{{"grid", grid_json(grid)}}}));
  }
  const auto draw = [&](const char* name, const char* spec, FigureData data) {
    if (page.library.empty()) return;
    page.specs[name] = filled_figure(source_dir, spec, std::move(data));
    add(name, json::array({{{"wide", name}}}));
  };
  const auto changed = [](const RowComparison& row) { return row.refused.empty() && !row.phases.empty(); };
  if (comparison.compared() > 0) draw("ratios", "comparison", ratios_data(comparison));
  if (std::ranges::any_of(comparison.rows, changed))
    draw("phases", "difference", differences_data(comparison));
  if (!comparison.only_in_a.empty() || !comparison.only_in_b.empty())
    add("without partner",
        json::array(
            {{{"facts", Facts{{"Only in A", fmt::format("{}", fmt::join(comparison.only_in_a, ", "))},
                              {"Only in B", fmt::format("{}", fmt::join(comparison.only_in_b, ", "))}}}}}));
  write_page_file(file, std::move(page), source_dir);
  console << "page: " << file.string() << '\n';
}

int compare_runs(const RunsToCompare& runs, std::ostream& console) {
  const auto& [a, b, out, as_json, noise_folder, project] = runs;
  const Records records_a = at_full_size(read_records(a, std::cerr)),
                records_b = at_full_size(read_records(b, std::cerr));
  for (const auto& [folder, records] : {std::pair{&a, &records_a}, std::pair{&b, &records_b}})
    if (records->empty()) {
      fmt::print(std::cerr, "{}: no usable record, so there is nothing to compare\n", folder->string());
      return base::kNothingRan;
    }
  const Noise noise = read_noise(noise_folder, machine_fingerprint(record_of_machine(records_a)), std::cerr);
  const Comparison comparison = compare(records_a, records_b, noise);
  const Grid grid = comparison_grid(comparison, a.string(), b.string());
  const std::string text = console_text(grid), described = comparison_json(comparison).dump(1) + "\n";
  if (as_json)
    console << described;
  else
    console << text;
  if (!out.empty()) {
    std::filesystem::create_directories(out);
    write_text(out / "comparison.txt", text);
    write_text(out / "comparison.md", markdown_text(grid, 2));
    write_text(out / "comparison.json", described);
    write_comparison_page(out / "comparison.html", comparison, a.string(), b.string(), project,
                          as_json ? std::cerr : console);
  }
  if (comparison.rows.empty())
    fmt::print(std::cerr, "no row is in both: A has {}; B has {}\n", fmt::join(comparison.only_in_a, ", "),
               fmt::join(comparison.only_in_b, ", "));
  return comparison.exit_code();
}

}  // namespace harness
