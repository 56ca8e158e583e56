// Lists as people write them: with commas between their parts.
#pragma once
#include <string>
#include <vector>

namespace base {

// The parts without the blanks around them; empty ones are left out.
std::vector<std::string> split_at_commas(const std::string& text);

}  // namespace base
