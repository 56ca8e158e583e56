// Reads YAML configurations: mappings with unique keys, and the line of each entry.
#pragma once
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <string>
#include <vector>

#include "harness/config/config_error.h"

namespace harness {

struct Entry {
  std::string key;
  YAML::Node value;
  Origin origin;  // the key's line
};

// The entries of the top mapping. `allowed`: allowed keys; empty: any key. Throws ConfigError when the file
// isn't YAML text of at most 1 MiB (2 MiB with every alias written out), and for another key.
std::vector<Entry> read_yaml(const std::filesystem::path& file, const std::vector<std::string>& allowed = {});

// The entries of a nested mapping, likewise.
std::vector<Entry> entries(const Entry& mapping, const std::vector<std::string>& allowed = {});

// The values of a list, at least one, each with its own line; anything else is a list of one.
std::vector<Entry> items(const Entry& list);

std::string scalar(const Entry& entry);  // at most 4 KiB

// Whether the text is UTF-8 without control characters, so that terminals and records can show it.
bool is_plain_text(const std::string& text);
int64_t whole_number(const Entry& entry, int64_t min, int64_t max);

// Bounds of a figure, both ends allowed: far beyond what exists, but so that nothing computed from it leaves
// the range of its type. `or_zero`: also 0, which stands for none.
struct FigureLimits {
  double min = 0, max = 0;
  const char* unit = "";
  bool or_zero = false;
  bool hold(double value) const { return (or_zero && value == 0) || (value >= min && value <= max); }
};
std::string described(const FigureLimits& limits);  // `from 0.001 to 1000000 GB/s, or 0`
double number(const Entry& entry, const FigureLimits& limits);

// A list of at most 1000 scalars, or one scalar with commas between its parts.
std::vector<std::string> words(const Entry& entry);

}  // namespace harness
