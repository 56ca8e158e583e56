// Tables that a matrix describes under `tables:`, read and checked as far as the matrix alone can tell;
// whether a figure exists is known where tables are made (report/article_tables.h).
#pragma once
#include <string>
#include <vector>

#include "harness/config/yaml_file.h"

namespace harness {

struct TableColumn {
  std::string header = {};
  std::vector<std::string> of = {};  // the name of a figure, setting or text; or a list of phases: their sum
  std::string unit = {};             // empty: the figure's own
  bool optional = false;             // left out if no row has a cell
  Origin origin = {};
};

// A line below the table.
struct TableNote {
  std::string text = {};
  std::string of = {};  // what is computed for the line; empty: the line is `text`
  std::vector<std::string> rows = {};
  Origin origin = {};
};

struct MatrixTable {
  std::string title = {};
  std::string layout = "rows";         // one of kTableLayouts
  std::vector<std::string> rows = {};  // by id, in the table's order
  std::vector<std::string> about =
      {};  // if none of them was run, there is no table; all `rows` if not written
  std::vector<std::string> equal = {};  // rows that the source calls equal to their base
  std::vector<TableColumn> columns = {};
  std::vector<TableNote> notes = {};
};

// rows: a line per row; columns: a line per column that has a cell, and the rows side by side; platform:
// where the first of the rows ran; accuracy: what precisions learned.
inline const std::vector<std::string> kTableLayouts = {"rows", "columns", "platform", "accuracy"};

// The tables of the section, by title. `ids`: of the matrix's rows; empty: they were checked before. Throws
// ConfigError.
std::vector<MatrixTable> read_tables(const Entry& section, const std::vector<std::string>& ids);

}  // namespace harness
