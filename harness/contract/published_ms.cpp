// Accepts pairs of a phase's name and a positive number, and describes what it expected otherwise.
#include "harness/contract/published_ms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "harness/contract/phases.h"

namespace harness {
namespace {

constexpr const char* kLaunch = "_launch";

bool is_phase(std::string name) {
  if (name.size() > 7 && name.compare(name.size() - 7, 7, kLaunch) == 0) name.resize(name.size() - 7);
  return std::ranges::find(kPhaseNames, name) != kPhaseNames.end();
}

// Adds the word to `times`. Returns an empty text, or what was expected.
std::string read_word(const std::string& word, PublishedMs& times) {
  const size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  if (!is_phase(name))
    return fmt::format("phase=ms, where phase is one of {}, optionally followed by {}",
                       fmt::join(kPhaseNames, ", "), kLaunch);
  double ms = 0;
  const char* end = word.data() + word.size();
  const auto [rest, error] =
      std::from_chars(word.data() + std::min(equals, word.size() - 1) + 1, end, ms, std::chars_format::fixed);
  if (equals == std::string::npos || error != std::errc() || rest != end || !(ms > 0 && ms < 1e9))
    return fmt::format("a number of ms above 0 in {}=", name);
  if (!times.emplace(name, ms).second) return fmt::format("{} once", name);
  return "";
}

}  // namespace

std::string published_ms_problem(const std::string& text) {
  PublishedMs times;
  std::istringstream words(text);
  for (std::string word; words >> word;)
    if (const std::string problem = read_word(word, times); !problem.empty()) return problem;
  return "";
}

PublishedMs published_ms(const std::string& text) {
  PublishedMs times;
  std::istringstream words(text);
  for (std::string word; words >> word;) read_word(word, times);
  return times;
}

}  // namespace harness
