// A matrix file: resolves inheritance and scale of its rows, and checks them before a run starts.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/config/scales.h"
#include "harness/config/tables.h"

namespace harness {

struct Matrix {
  std::string file, title, source;
  std::vector<Row> rows;  // in the order of the file
  std::vector<std::pair<std::string, std::string>> aliases;
  std::vector<std::string> repeated;      // rows to run several times while there is time
  std::vector<std::string> drawn;         // rows that plots of single batches show first
  std::map<std::string, Origin> origins;  // where each row is defined, by id
  std::vector<MatrixTable> tables;        // of its results
};

// Precedence: field default < `defaults:` < the rows that `like:` names < the row < the scale < `as_run:`.
// `like:` does not copy descriptive fields (title, base, identity, inferred, published_s, _ms, _note);
// `inferred` of the defaults is added to that of the row. `device`: for rows that name none. Throws
// ConfigError.
Matrix load_matrix(const std::filesystem::path& file, const Scale& scale, const AxisValues& values = {},
                   const std::string& device = "cpu");

// configs/article.yaml of the installation with no scale, read once. Throws as load_matrix().
const Matrix& article_matrix();

// The ids of the rows of a file with these sections, without resolving them. Throws ConfigError.
std::vector<std::string> row_ids(const std::vector<Entry>& sections);

// Throws ConfigError with `origin` when the settings of a row contradict each other.
void check_combination(const Row& row, const Origin& origin, const AxisValues& values);

}  // namespace harness
