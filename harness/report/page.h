// report.html: verdicts, tables, figures, environment and the raw records of a run in one file.
#pragma once
#include <filesystem>
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

}  // namespace harness
