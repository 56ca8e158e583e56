// What the command history shows: lists of nights and one night as tables and JSON, and comparisons of two
// nights, from the full records of their runs or from the history's own data.
#pragma once
#include <nlohmann/json.hpp>
#include <ostream>
#include <vector>

#include "harness/compare/comparison.h"
#include "harness/nightly/history.h"
#include "harness/report/summary/grid.h"

namespace harness {

Grid history_grid(const std::vector<Night>& nights);
nlohmann::json history_json(const std::vector<Night>& nights);
Grid night_grid(const Night& night);

// The history's own data as records: the time of every repeat that nights are compared by, one batch with the
// means of the phases, and the environment. Instead of settings they have only `config_hash`, so don't
// compare them with full ones.
Records thin_records(const Night& night);

struct NightComparison {
  Comparison comparison;
  bool full = false;  // from the full records of both runs; false: from the history's own data
};
// Compares B with A. Margins come from the noise in `noise_folder`.
NightComparison compare_nights(const Night& a, const Night& b, const std::filesystem::path& noise_folder,
                               std::ostream& warnings);
Grid night_comparison_grid(const NightComparison& compared, const Night& a, const Night& b);

}  // namespace harness
