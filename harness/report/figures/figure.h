// One function per figure that fills its spec, and the helpers that several figures use.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/report/summary/summary.h"

namespace harness {

struct FigureSource {
  const Summary& summary;
  std::string run;         // the run's name
  nlohmann::json palette;  // plots/palette.json
};

// Fills a spec from plots/ with data, title and subtitle. Returns false if the summary has no data for it.
using FillFigure = bool (*)(nlohmann::json& spec, const FigureSource&);
bool fill_cascade(nlohmann::json& spec, const FigureSource&);
bool fill_phases(nlohmann::json& spec, const FigureSource&);
bool fill_scaling(nlohmann::json& spec, const FigureSource&);
bool fill_threads(nlohmann::json& spec, const FigureSource&);
bool fill_communication(nlohmann::json& spec, const FigureSource&);
bool fill_batches(nlohmann::json& spec, const FigureSource&);
bool fill_ranks(nlohmann::json& spec, const FigureSource&);
bool fill_precision(nlohmann::json& spec, const FigureSource&);
bool fill_timeline(nlohmann::json& spec, const FigureSource&);
bool fill_busy(nlohmann::json& spec, const FigureSource&);

// Sets the title with the scale's mark, and a subtitle with scale, machine, build, data and `notes`.
void set_title(nlohmann::json& spec, const FigureSource&, const std::string& what,
               const std::vector<std::string>& notes = {});

// The ids of all rows in order. Layers of one chart need the same list to sort their rows equally.
nlohmann::json row_order(const Summary& summary);
// id, title, `ran` and status: the columns on the left of a figure with a line per row.
nlohmann::json row_values(const SummaryRow& row);
// `SKIPPED: why`
std::string reason_of(const SummaryRow& row);

// A Vega-Lite colour scale {domain, range} from a part of the palette.
nlohmann::json colour_scale(const FigureSource&, const char* part);
// The names in this part of the palette that occur in `field` of the values, in the palette's order.
nlohmann::json present(const FigureSource&, const char* part, const nlohmann::json& values,
                       const char* field);

// The domain from 0 to `largest` times `room`, which leaves space for the text after the longest bar.
nlohmann::json domain_to(double largest, double room);

}  // namespace harness
