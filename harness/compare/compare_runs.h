// Compares two runs: the output of `compare`, and of `ab` at its end.
#pragma once
#include <filesystem>
#include <ostream>
#include <string>

#include "harness/compare/comparison.h"

namespace harness {

// Without the renderer in source_dir/.venv, the page has only tables and says how to get the figures. Throws
// std::runtime_error when the file can't be written.
void write_comparison_page(const std::filesystem::path& file, const Comparison& comparison,
                           const std::string& name_a, const std::string& name_b,
                           const std::filesystem::path& source_dir, std::ostream& console);

struct RunsToCompare {
  std::filesystem::path a, b;     // folders of runs
  std::filesystem::path out;      // folder for comparison.txt, .md, .json and .html; empty: no files
  bool as_json = false;           // print JSON instead of the table
  std::filesystem::path noise;    // folder with the noise measured on this and other machines
  std::filesystem::path project;  // contains plots/
};

// Returns kRegression if a row is SLOWER, kNothingRan if no row could be compared, otherwise kAllGood.
int compare_runs(const RunsToCompare& runs, std::ostream& console);

}  // namespace harness
