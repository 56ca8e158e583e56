// Splits the text of a command at blanks outside of quotes.
#include "harness/contract/loader_command.h"

namespace harness {

std::vector<std::string> words_of_command(const std::string& text) {
  std::vector<std::string> words;
  char quote = 0;
  bool within = false;
  for (const char c : text) {
    if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      within = false;
      continue;
    }
    if (!within) words.emplace_back();
    within = true;
    if (c == quote)
      quote = 0;
    else if (quote == 0 && (c == '\'' || c == '"'))
      quote = c;
    else
      words.back() += c;
  }
  return words;
}

size_t adapter_of(const std::vector<std::string>& words) {
  for (size_t i = 1; i < words.size(); ++i)
    if (words[i].ends_with(".py")) return i;
  return 0;
}

std::string loader_command_problem(const std::string& text) {
  const std::vector<std::string> words = words_of_command(text);
  return words.empty() || adapter_of(words) > 0 ? "" : "a Python and an adapter: `python NAME.py`";
}

}  // namespace harness
