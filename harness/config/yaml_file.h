// A YAML file read as what configurations are made of: mappings of unique keys to scalars, with lines.
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

// The entries of the top mapping. Refuses what is no readable YAML text of at most 1 MiB.
std::vector<Entry> read_yaml(const std::filesystem::path& file);

// The entries of a mapping inside it. `allowed`: the keys that may stand there, empty: any.
std::vector<Entry> entries(const Entry& mapping, const std::vector<std::string>& allowed = {});

std::string scalar(const Entry& entry);

// UTF-8 without control characters: fit for a terminal and for a record.
bool is_plain_text(const std::string& text);
int64_t whole_number(const Entry& entry, int64_t min, int64_t max);

// A list of scalars, or one scalar with commas between its parts.
std::vector<std::string> words(const Entry& entry);

}  // namespace harness
