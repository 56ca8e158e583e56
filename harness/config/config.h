// A matrix file: its rows with inheritance and scale resolved, and everything that is refused before a run
// starts.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/config/scales.h"

namespace harness {

struct Matrix {
  std::string file, title, source;
  std::vector<Row> rows;  // in the order of the file
  std::vector<std::pair<std::string, std::string>> aliases;
  std::map<std::string, Origin> origins;  // where each row stands
};

// Precedence: field default < `defaults:` < the rows that `like:` names < the row < the scale. What the
// article says of a row (title, base, identity, inferred, published_s, _ms, _note) is not handed on by
// `like:`; `inferred` of the defaults is added to the row's own. `device` is used by rows that name none.
// Throws ConfigError.
Matrix load_matrix(const std::filesystem::path& file, const Scale& scale, const AxisValues& values = {},
                   const std::string& device = "cpu");

// Throws ConfigError with `origin` when the settings of a row don't go together.
void check_combination(const Row& row, const Origin& origin, const AxisValues& values);

}  // namespace harness
