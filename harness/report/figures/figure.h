// What the figures share: one function per figure that fills its spec, and the parts that several of them
// use.
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

// Each fills its spec of plots/ with data, title and subtitle; false when the summary has nothing to show.
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

// Title with the scale's mark, and below it what ran, on which machine, with which data. `notes` are further
// lines.
void set_title(nlohmann::json& spec, const FigureSource&, const std::string& what,
               const std::vector<std::string>& notes = {});

// Layers of one chart sort their rows only by a list that all share.
nlohmann::json row_order(const Summary& summary);
// id, title, what ran and status: the columns on the left of a figure with a line per row.
nlohmann::json row_values(const SummaryRow& row);
// `SKIPPED: why`
std::string reason_of(const SummaryRow& row);

// A colour scale of a named part of the palette, as Vega-Lite wants it: domain and range.
nlohmann::json colour_scale(const FigureSource&, const char* part);
// The names of that part which occur in `field` of the values, in the palette's order.
nlohmann::json present(const FigureSource&, const char* part, const nlohmann::json& values,
                       const char* field);

// Zero up to the largest value, times `room` for the text behind the longest bar.
nlohmann::json domain_to(double largest, double room);

}  // namespace harness
