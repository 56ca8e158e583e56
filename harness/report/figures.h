// Figures: the Vega-Lite specs of plots/ filled with a run's summary, and rendered.
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
  nlohmann::json spec;  // Vega-Lite with its data inside; colours of text and background come from
                        // plots/light.json or plots/dark.json as Vega-Lite `config`
};

// Every figure that the summary has data for, in the order in which a reader needs them. `run` is the run's
// name for the subtitle, `source_dir` holds plots/. Throws std::runtime_error naming a spec that is missing
// or no JSON.
std::vector<Figure> figures_of(const Summary& summary, const std::string& run,
                               const std::filesystem::path& source_dir);

// Writes run_dir/plots/NAME.vl.json for each figure (of further summaries of one run with scale and device in
// the name), renders each to SVG and PNG, light and dark, and removes figures of an earlier set. What can't
// be rendered is a warning with the next step on `console`: the specs then still open in any Vega-Lite
// editor. `source_dir` holds plots/ and .venv/. A run without any measured row gets no figures.
void write_figures(const std::filesystem::path& run_dir, const std::vector<Summary>& summaries,
                   const std::filesystem::path& source_dir, std::ostream& console);

}  // namespace harness
