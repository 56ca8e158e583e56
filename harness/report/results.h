// Writes the results of a run: tables, figures and the page.
#pragma once
#include <filesystem>
#include <functional>
#include <ostream>

#include "harness/report/summary/summary.h"

namespace harness {

// Summaries of a run's records, with what its folder says beside them: its own claims (claims.yaml), and what
// the run found out about its machine. They refer to `records`.
std::vector<Summary> summaries_of(const std::filesystem::path& run, const Records& records);

// Writes tables, figures and page of a run that has just ended into its folder and prints the main table.
// Returns false without records. `project` contains plots/. Throws std::runtime_error if a write fails.
bool write_results(const std::filesystem::path& project, const std::filesystem::path& run,
                   const Records& records, std::ostream& console);

// Calls `runs`, which add to the records, then write_results(). Returns false where base::survives() does;
// then what was measured is shown.
bool write_results_of(const std::function<void()>& runs, const std::filesystem::path& project,
                      const std::filesystem::path& run, const Records& records, std::ostream& console);

// The same from the records of a finished run, with all tables printed. Figures are optional.
bool rebuild_results(const std::filesystem::path& project, const std::filesystem::path& run, bool figures,
                     std::ostream& console);

}  // namespace harness
