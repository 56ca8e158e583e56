#include "harness/compare/comparison_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/base/json_text.h"
#include "harness/compare/comparison_figures.h"
#include "harness/report/page_file.h"

namespace harness {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Facts = std::vector<std::pair<std::string, std::string>>;

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

json verdict_grid(const Comparison& comparison, const std::string& name_a, const std::string& name_b) {
  Grid grid = comparison_grid(comparison, name_a, name_b);
  grid.title = "";
  grid.above.clear();  // the first section has the same lines
  return grid_json(grid);
}

void add(PageFile& file, const std::string& title, json blocks) {
  file.page["sections"].push_back(
      {{"id", title}, {"title", title}, {"part", ""}, {"blocks", std::move(blocks)}});
}

}  // namespace

void write_comparison_page(const fs::path& file, const Comparison& comparison, const std::string& name_a,
                           const std::string& name_b, const fs::path& source_dir, std::ostream& console) {
  const auto spec_of = [&](const char* name) {
    return base::require_json(read_text(source_dir / "plots" / name));
  };
  PageFile page;
  page.library = drawing_library(source_dir);
  page.without_script = "the file comparison.txt in the same folder has the tables";
  page.page = {{"title", "B against A"}, {"sections", json::array()}, {"note", ""}};
  if (page.library.empty())
    page.page["note"] =
        "No figures, because the plot renderer is missing: run ./run_matrix once without --no-install, then "
        "compare again.";
  add(page, "answer", first_blocks(comparison, name_a, name_b));
  if (!comparison.rows.empty())
    add(page, "verdicts", json::array({{{"grid", verdict_grid(comparison, name_a, name_b)}}}));
  if (json ratios = spec_of("comparison.vl.json"); !page.library.empty() && fill_ratios(ratios, comparison)) {
    page.specs["ratios"] = std::move(ratios);
    add(page, "ratios", json::array({{{"wide", "ratios"}}}));
  }
  if (json differences = spec_of("difference.vl.json");
      !page.library.empty() && fill_differences(differences, comparison, read_palette(source_dir).phases)) {
    page.specs["phases"] = std::move(differences);
    add(page, "phases", json::array({{{"wide", "phases"}}}));
  }
  if (!comparison.only_in_a.empty() || !comparison.only_in_b.empty())
    add(page, "without partner",
        json::array(
            {{{"facts", Facts{{"Only in A", fmt::format("{}", fmt::join(comparison.only_in_a, ", "))},
                              {"Only in B", fmt::format("{}", fmt::join(comparison.only_in_b, ", "))}}}}}));
  write_page_file(file, std::move(page), source_dir);
  console << "page: " << file.string() << '\n';
}

}  // namespace harness
