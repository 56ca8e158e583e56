// comparison.html: what differs around two runs, verdicts, ratios with intervals, and the phases behind them.
#pragma once
#include <filesystem>
#include <ostream>
#include <string>

#include "harness/compare/comparison.h"

namespace harness {

// Without the renderer in source_dir the page has its tables and says how to get the figures. Throws
// std::runtime_error when the file can't be written.
void write_comparison_page(const std::filesystem::path& file, const Comparison& comparison,
                           const std::string& name_a, const std::string& name_b,
                           const std::filesystem::path& source_dir, std::ostream& console);

}  // namespace harness
