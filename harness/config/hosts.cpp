// Checks the syntax of host names and slot counts before mpirun would fail on them.
#include "harness/config/hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "harness/base/number.h"

namespace harness {
namespace {

constexpr size_t kMostDigits = 6;

bool is_count(const std::string& text) {
  return text.size() <= kMostDigits && base::number_of<int>(text).value_or(0) > 0;
}

bool is_host(const std::string& name) {
  const auto may_begin = [](char c) { return std::isalnum(static_cast<unsigned char>(c)); };
  return !name.empty() && may_begin(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return may_begin(c) || c == '.' || c == '-' || c == '_'; });
}

// OpenMPI reads `slots = 4` as `slots=4`.
std::string without_blanks_at_equals(std::string line) {
  for (size_t at = line.find('='); at != line.npos; at = line.find('=', at + 1)) {
    line.erase(at + 1, std::min(line.find_first_not_of(" \t", at + 1), line.size()) - at - 1);
    while (at > 0 && (line[at - 1] == ' ' || line[at - 1] == '\t')) line.erase(--at, 1);
  }
  return line;
}

// What is wrong with one line; empty when it is valid.
std::string line_problem(const std::string& line) {
  std::istringstream words(without_blanks_at_equals(line));
  std::string host, word;
  words >> host;
  if (!is_host(host.substr(host.find('@') + 1)))
    return fmt::format("expected the name of a host, found '{}'", host);
  while (words >> word) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals),
                      value = equals == word.npos ? "" : word.substr(equals + 1);
    if (equals == word.npos || value.empty())
      return fmt::format("expected words such as slots=4 after the host, found '{}'", word);
    if (name.find("slots") != std::string::npos && !is_count(value))
      return fmt::format("expected a whole number above 0 after {}=, found '{}'", name, value);
  }
  return "";
}

}  // namespace

std::string hosts_problem(const std::string& hosts) {
  constexpr const char* next = "; e.g. --hosts a:4,b:4 for four ranks on each of two nodes";
  std::istringstream list(hosts + ",");  // getline() drops an empty last word
  for (std::string word; std::getline(list, word, ',');) {
    const size_t colon = word.find(':');
    if (!is_host(word.substr(0, colon)))
      return fmt::format("expected host or host:slots between commas, found '{}' in '{}'{}", word, hosts,
                         next);
    if (colon != word.npos && !is_count(word.substr(colon + 1)))
      return fmt::format("expected a whole number above 0 after the colon, found '{}'{}", word, next);
  }
  return "";
}

std::string hostfile_problem(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) return fmt::format("{}: can't be read: {}", file.string(), std::strerror(errno));
  int number = 0, hosts = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    ++hosts;
    if (const std::string problem = line_problem(line); !problem.empty())
      return fmt::format("{}:{}: {}; a line is e.g. `node1 slots=4`", file.string(), number, problem);
  }
  return hosts ? "" : fmt::format("{}: names no host; a line is e.g. `node1 slots=4`", file.string());
}

}  // namespace harness
