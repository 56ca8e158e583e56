// Tables: a run's summary as text for the console, as Markdown and as CSV.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "harness/report/summary/summary.h"

namespace harness {

// What a report prints: also the article's tables, or only the main table and the path of article.md.
enum class Shown { everything, main_table };

// Writes run_dir/table.txt, table.md and table.csv and prints its tables to `console`; with rows of the
// article's matrix also writes article.txt, .md and .csv. Without a summary, prints one line and returns
// false. table.txt and table.md begin with `left_out`, which lines of the records were. Throws
// std::runtime_error when a file can't be written.
bool write_report(const std::filesystem::path& run_dir, const std::vector<Summary>& summaries,
                  std::ostream& console, Shown shown = Shown::main_table, const std::string& left_out = "");

std::string console_table(const Summary& summary);
std::string markdown_table(const Summary& summary);
std::string csv_table(const std::vector<Summary>& summaries);  // RFC 4180, one header for all

// Replaces a file's whole text. Throws std::runtime_error with the next step.
void write_text(const std::filesystem::path& file, const std::string& text);

}  // namespace harness
