// A figure is a Vega-Lite specification in plots/, filled with a table of data and a few parameters.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/report/summary/summary.h"

namespace harness {

// What a specification is filled with. Sums, sorting, labels and colours are the specification's.
struct FigureData {
  nlohmann::json values = nlohmann::json::array();   // a table in long form: objects with the same keys
  nlohmann::json params = nlohmann::json::object();  // by name
};

// plots/NAME.vl.json with the table as its data. `${param}` in its strings stands for the parameter's text; a
// string that is nothing else becomes the parameter itself, and a text of a list that becomes empty is left
// out. `rows` is a parameter of all figures: the table's rows in order. `colours` too: a scale with the
// colours of plots/palette.json for the phases that the table has; it calls a phase without one `other`.
// Throws std::runtime_error naming a missing or damaged file, and std::out_of_range for an unknown parameter.
nlohmann::json filled_figure(const std::filesystem::path& source_dir, const std::string& name,
                             FigureData data);

// The data of each figure of a run; empty if the summary has none for it.
FigureData cascade_data(const Summary& summary);
FigureData phases_data(const Summary& summary);
FigureData communication_data(const Summary& summary);
FigureData batches_data(const Summary& summary);
FigureData ranks_data(const Summary& summary);
FigureData timeline_data(const Summary& summary);
FigureData feed_data(const Summary& summary);

}  // namespace harness
