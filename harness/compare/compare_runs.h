// Compares two runs: the output of `compare`, and of `ab` at its end.
#pragma once
#include <filesystem>
#include <ostream>

namespace harness {

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
