// Writes the results of a run: tables, figures and the page.
#pragma once
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "harness/report/summary/summary.h"

namespace harness {

// Fills plots/report.html. `records`: the result of read_records() for run_dir/records.jsonl; `left_out`: its
// warnings about lines that it left out; `summaries`: summarise(records). The page also contains
// records.jsonl unchanged. Without the renderer in .venv/, the page shows the pictures in run_dir/plots/, if
// any, and says how to get the figures. Throws std::runtime_error when the page can't be written.
void write_page(const std::filesystem::path& run_dir, const Records& records,
                const std::vector<Summary>& summaries, const std::string& left_out,
                const std::filesystem::path& source_dir, std::ostream& console);

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
