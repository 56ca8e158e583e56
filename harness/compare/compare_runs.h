// Two runs against each other: what `compare` prints and writes, and `ab` at its end.
#pragma once
#include <filesystem>
#include <ostream>

namespace harness {

struct RunsToCompare {
  std::filesystem::path a, b;  // folders of runs
  std::filesystem::path out;   // for comparison.txt, .md, .json and .html; empty: nothing is written
  bool as_json = false;        // what is printed
  std::filesystem::path noise;    // folder with the noise that was measured on this and other machines
  std::filesystem::path project;  // holds plots/
};

// Returns kRegression when a row is SLOWER, kNothingRan when no row could be compared.
int compare_runs(const RunsToCompare& runs, std::ostream& console);

}  // namespace harness
