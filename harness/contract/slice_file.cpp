// Joins the facts and the ranks' reports as one line of JSON each.
#include "harness/contract/slice_file.h"

#include <utility>

namespace harness {

std::string slice_text(const SliceFacts& facts, std::vector<std::string> reports) {
  std::string text = encode(facts).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
  size_t bytes = text.size();
  for (const std::string& report : reports) bytes += report.size() + 1;
  text.reserve(bytes);
  for (std::string& report : reports) {
    text += std::exchange(report, {});
    text += '\n';
  }
  return text;
}

}  // namespace harness
