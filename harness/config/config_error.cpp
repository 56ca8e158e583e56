// Builds the text of all configuration errors.
#include "harness/config/config_error.h"

#include <fmt/format.h>

namespace harness {

std::string in_quotes(const std::string& text) {
  constexpr size_t longest = 60;
  std::string out = "'";
  for (unsigned char c : text.substr(0, longest))
    if (c < 0x20 || c == 0x7f)
      out += fmt::format("\\x{:02x}", c);
    else
      out += static_cast<char>(c);
  return out + (text.size() > longest ? "...'" : "'");
}

static std::string sentence(const Origin& origin, const std::string& rule, const std::string& expected,
                            const std::string& found, const std::string& next_step) {
  std::string text = origin.file;
  if (origin.line > 0) text += fmt::format(":{}", origin.line);
  text += ": " + rule;
  if (!expected.empty()) text += "; expected " + expected;
  if (!found.empty()) text += "; found " + found;
  if (!next_step.empty()) text += "; " + next_step;
  return text;
}

ConfigError::ConfigError(const Origin& origin, const std::string& rule, const std::string& expected,
                         const std::string& found, const std::string& next_step)
    : std::runtime_error(sentence(origin, rule, expected, found, next_step)) {}

}  // namespace harness
