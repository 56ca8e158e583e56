// comparison.html: differences in the environment, verdicts, ratios with intervals, and differences by phase.
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

}  // namespace harness
