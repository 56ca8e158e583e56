// Figures: the Vega-Lite specs of plots/ filled with a run's summary, and rendered.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "harness/report/summary.h"

namespace harness {

// Writes run_dir/plots/{cascade,phases}.vl.json (further ones, with scale and device in their names, for
// further summaries of one run) and renders each to SVG and PNG. What can't be rendered is a warning with the
// next step on `console`: the specs then still open in any Vega-Lite editor. `source_dir` holds plots/ and
// .venv/.
void write_figures(const std::filesystem::path& run_dir, const std::vector<nlohmann::json>& records,
                   const std::filesystem::path& source_dir, std::ostream& console);

// A spec of plots/ with data, title and subtitle of one summary.
nlohmann::json cascade_figure(nlohmann::json spec, const Summary& summary, const std::string& run);
nlohmann::json phases_figure(nlohmann::json spec, const Summary& summary, const std::string& run);

}  // namespace harness
