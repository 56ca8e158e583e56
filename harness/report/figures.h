// Figures: fills the Vega-Lite specs in plots/ with a run's summary and renders them.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "harness/report/summary/summary.h"

namespace harness {

struct Figure {
  std::string name;     // the stem of its files: cascade, phases, ...
  nlohmann::json spec;  // Vega-Lite with its data; the colours of text and background are added from
                        // plots/light.json or plots/dark.json as Vega-Lite `config`
};

// The name of a run's folder, for titles; also where it is written as `.`, or ends in a slash.
std::string run_name(const std::filesystem::path& run_dir);

// Every figure for which the summary has data, the most important first. `run` is the run's name for the
// subtitle; `source_dir` contains plots/. Throws std::runtime_error naming a missing or damaged spec.
std::vector<Figure> figures_of(const Summary& summary, const std::string& run,
                               const std::filesystem::path& source_dir);

// Removes earlier figures, writes run_dir/plots/NAME.vl.json for each figure (for further summaries of one
// run with scale and device in the name) and renders each to SVG and PNG, light and dark. If rendering fails,
// prints a warning with the next step to `console`; the specs can be opened in any Vega-Lite editor.
// `source_dir` contains plots/ and .venv/. A run without any measured row gets no figures.
void write_figures(const std::filesystem::path& run_dir, const std::vector<Summary>& summaries,
                   const std::filesystem::path& source_dir, std::ostream& console);

}  // namespace harness
