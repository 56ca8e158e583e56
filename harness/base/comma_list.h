// Splitting comma-separated lists.
#pragma once
#include <string>
#include <vector>

namespace base {

// The parts without surrounding blanks; empty parts are left out.
std::vector<std::string> split_at_commas(const std::string& text);

}  // namespace base
