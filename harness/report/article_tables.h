// The tables that a matrix describes, from records of its rows.
#pragma once
#include <string>
#include <vector>

#include "harness/config/tables.h"
#include "harness/report/summary/grid.h"
#include "harness/report/summary/summary.h"

namespace harness {

// Those of which at least one row was run. Times are means per batch over ranks and batches. A row that
// failed or was not run has its status instead of the total, and no figures. Throws ConfigError as
// column_of() and lines_of() do.
std::vector<Grid> grids_of(const Summary& summary, const std::vector<MatrixTable>& tables);

// Those of the article's matrix, configs/article.yaml; none for rows of other matrices.
std::vector<Grid> article_tables(const Summary& summary);

// The lines that a note stands for; none if this run lacks a figure for it. Throws ConfigError for an unknown
// name of what is computed.
std::vector<std::string> lines_of(const Summary& summary, const TableNote& note);

// Lines above every table: the scale and its mark, and what --set changed.
std::vector<std::string> lines_above(const Summary& summary);

// A table of the layouts rows and columns.
Grid article_grid(const Summary& summary, const MatrixTable& table);

}  // namespace harness
