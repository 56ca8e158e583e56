// Prints the comparison, writes it as text, Markdown, JSON and a page, and returns the exit code.
#include "harness/compare/compare_runs.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <iostream>

#include "harness/base/exit_code.h"
#include "harness/compare/comparison.h"
#include "harness/compare/comparison_page.h"
#include "harness/report/table.h"
#include "harness/stats/full_size.h"
#include "harness/stats/records.h"

namespace harness {

int compare_runs(const RunsToCompare& runs, std::ostream& console) {
  const auto& [a, b, out, as_json, noise_folder, project] = runs;
  const Records records_a = at_full_size(read_records(a, std::cerr)),
                records_b = at_full_size(read_records(b, std::cerr));
  for (const auto& [folder, records] : {std::pair{&a, &records_a}, std::pair{&b, &records_b}})
    if (records->empty()) {
      fmt::print(std::cerr, "{}: no usable record, so there is nothing to compare\n", folder->string());
      return base::kNothingRan;
    }
  const Noise noise = read_noise(noise_folder, machine_fingerprint(records_a.front()), std::cerr);
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
  if (comparison.compared() == 0) return base::kNothingRan;
  return comparison.any(RowVerdict::slower) ? int(base::kRegression) : int(base::kAllGood);
}

}  // namespace harness
