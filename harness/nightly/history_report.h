// Formats a history as tables and JSON: lists of nights, one night, comparisons of two nights.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <vector>

#include "harness/compare/comparison.h"
#include "harness/nightly/history.h"
#include "harness/report/summary/grid.h"

namespace harness {

Grid history_grid(const std::vector<NightEntry>& nights);
nlohmann::json history_json(const std::vector<NightEntry>& nights);
Grid night_grid(const Night& night);

// The full records; nullopt if the folder of the night's run is gone or contains another run.
std::optional<Records> full_records(const Night& night, std::ostream& warnings);

// The history's own data as records: the time of every repeat, one batch with the means of the phases, and
// the environment. Instead of settings they have only `config_hash`, so don't compare them with full ones.
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
