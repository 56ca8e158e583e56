// Reads up to each comma and trims spaces and tabs.
#include "harness/base/comma_list.h"

#include <sstream>

namespace base {

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    size_t first = part.find_first_not_of(" \t");
    if (first != std::string::npos)
      parts.push_back(part.substr(first, part.find_last_not_of(" \t") - first + 1));
  }
  return parts;
}

}  // namespace base
