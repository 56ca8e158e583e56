// report.html: verdicts, tables, figures, environment and the raw records of a run in one file.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "harness/report/summary/summary.h"

namespace harness {

// Fills plots/report.html. `records` are what read_records made of run_dir/records.jsonl, `summaries` what
// summarise made of these, and `left_out` what
// it said of the lines that it did not take; the file itself goes into the page byte by byte. Without the
// renderer in .venv/ figures are pictures of run_dir/plots/, where there are any, and the page says how to
// get them. Throws std::runtime_error when the page can't be written.
void write_page(const std::filesystem::path& run_dir, const Records& records,
                const std::vector<Summary>& summaries, const std::string& left_out,
                const std::filesystem::path& source_dir, std::ostream& console);

}  // namespace harness
