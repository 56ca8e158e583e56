// One function per figure that fills its spec, and the helpers that several figures use.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/report/summary/summary.h"

namespace harness {

struct NamedColour {
  std::string name, colour;
  static constexpr auto keys() {
    return known_keys(Key{"name", &NamedColour::name, "what is drawn so", Presence::required},
                      Key{"colour", &NamedColour::colour, "e.g. #0072B2", Presence::required});
  }
};
using Colours = std::vector<NamedColour>;

// plots/palette.json: a phase has one colour in all plots.
struct Palette {
  Colours phases, collectives, communication, batches;
  std::vector<std::string> diverging;
  static constexpr auto keys() {
    constexpr auto required = Presence::required;
    return known_keys(Key{"phases", &Palette::phases, "of a step", required},
                      Key{"collectives", &Palette::collectives, "of a timeline", required},
                      Key{"communication", &Palette::communication, "of a step", required},
                      Key{"batches", &Palette::batches, "by kind", required},
                      Key{"diverging", &Palette::diverging, "low, middle, high", required});
  }
};

// Throws std::runtime_error if the file is damaged.
Palette read_palette(const std::filesystem::path& source_dir);

struct FigureSource {
  const Summary& summary;
  std::string run;  // the run's name
  Palette palette;
};

// Fills a spec from plots/ with data, title and subtitle. Returns false if the summary has no data for it.
using FillFigure = bool (*)(nlohmann::json& spec, const FigureSource&);
bool fill_cascade(nlohmann::json& spec, const FigureSource&);
bool fill_phases(nlohmann::json& spec, const FigureSource&);
bool fill_communication(nlohmann::json& spec, const FigureSource&);
bool fill_batches(nlohmann::json& spec, const FigureSource&);
bool fill_ranks(nlohmann::json& spec, const FigureSource&);
bool fill_timeline(nlohmann::json& spec, const FigureSource&);
bool fill_feed(nlohmann::json& spec, const FigureSource&);

// Sets the title with the scale's mark, and a subtitle with scale, machine, build, data and `notes`.
void set_title(nlohmann::json& spec, const FigureSource&, const std::string& what,
               const std::vector<std::string>& notes = {});

// The ids of all rows in order. Layers of one chart need the same list to sort their rows equally.
nlohmann::json row_order(const Summary& summary);
// What times and rates are of, for titles of axes.
std::string where_measured(const Summary& summary);
// id, title, `ran` and status: the columns on the left of a figure with a line per row.
nlohmann::json row_values(const SummaryRow& row);
// `SKIPPED: why`
std::string reason_of(const SummaryRow& row);

// A Vega-Lite colour scale {domain, range}.
nlohmann::json colour_scale(const Colours&);
// The names that occur in `field` of the values, in the palette's order.
nlohmann::json present(const Colours&, const nlohmann::json& values, const char* field);

// The domain from 0 to `largest` times `room`, which leaves space for the text after the longest bar.
nlohmann::json domain_to(double largest, double room);

}  // namespace harness
