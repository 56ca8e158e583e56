// Titles, order and colours common to all figures.
#include "harness/report/figures/figure.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/json_text.h"

namespace harness {

using nlohmann::json;

namespace {

// A subtitle wider than the chart would widen the whole figure.
std::string shortened(const std::string& text) {
  constexpr size_t longest = 135;
  if (text.size() <= longest) return text;
  size_t end = longest - 3;
  while ((text[end] & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

}  // namespace

Palette read_palette(const std::filesystem::path& source_dir) {
  return decode<Palette>(base::parse_json_file(source_dir / "plots/palette.json"));
}

void set_title(json& spec, const FigureSource& source, const std::string& what,
               const std::vector<std::string>& notes) {
  const Summary& summary = source.summary;
  spec["title"]["text"] = (summary.mark.empty() ? "" : summary.mark + ": ") + what;
  const std::string scale = summary.scale_summary.empty() ? summary.scale : summary.scale_summary;
  json lines = json::array();
  for (const std::string& line :
       {"Ran: " + scale + (summary.mark.empty() ? "" : "; not the article's hardware or sizes"),
        fmt::format("{}: {}; {}", summary.device, summary.machine, summary.build),
        fmt::format("{}data: {}; run {}", summary.set.empty() ? "" : "set by hand: " + summary.set + "; ",
                    summary.data, source.run)})
    lines.push_back(shortened(line));
  for (const std::string& note : notes)
    if (!note.empty()) lines.push_back(shortened(note));
  spec["title"]["subtitle"] = lines;
}

std::string where_measured(const Summary& summary) {
  if (summary.device != "emulated") return summary.device;
  const bool stretched = std::any_of(summary.rows.begin(), summary.rows.end(),
                                     [](const SummaryRow& row) { return row.config.time_scale != 1; });
  return stretched ? "emulated devices, time stretched"  // runs of feed
                   : "emulated devices, in the article's batches and time";
}

json row_order(const Summary& summary) {
  json order = json::array();
  for (const SummaryRow& row : summary.rows) order.push_back(row.id);
  return order;
}

json row_values(const SummaryRow& row) {
  return {{"row", row.id}, {"title", row.title}, {"ran", row.ok() ? row.ran : ""}, {"status", row.status}};
}

std::string reason_of(const SummaryRow& row) {
  const std::string first = row.reason.substr(0, row.reason.find_first_of(";\n"));
  return row.status + (first.empty() ? "" : ": " + first);
}

json colour_scale(const Colours& colours) {
  json domain = json::array(), range = json::array();
  for (const NamedColour& entry : colours) {
    domain.push_back(entry.name);
    range.push_back(entry.colour);
  }
  return {{"domain", domain}, {"range", range}};
}

json present(const Colours& colours, const json& values, const char* field) {
  json names = json::array();
  for (const NamedColour& entry : colours)
    if (std::any_of(values.begin(), values.end(), [&](const json& value) {
          return value.contains(field) && value.at(field) == entry.name;
        }))
      names.push_back(entry.name);
  return names;
}

json domain_to(double largest, double room) {
  return {{"domain", {0, largest > 0 ? largest * room : 1}}, {"nice", false}};
}

}  // namespace harness
