// Fills a specification: parameters in its strings, rows and colours of its table.
#include "harness/report/figures/figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "harness/base/json_text.h"

namespace harness {
namespace {

using nlohmann::json;

json read_json(const std::filesystem::path& file) {
  json value = base::parse_json_file(file);
  if (value.is_discarded())
    throw std::runtime_error(file.string() + ": missing or not JSON; restore it from the repository");
  return value;
}

json filled_text(const std::string& text, const json& params) {
  std::string filled;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = std::min(text.find("${", at), text.size()), end = text.find('}', begin);
    filled += text.substr(at, begin - at);
    if (begin == text.size()) break;
    const json& value = params.at(text.substr(begin + 2, end - begin - 2));
    if (begin == 0 && end + 1 == text.size()) return value;
    filled += value.is_string() ? value.get<std::string>() : value.dump();
    at = end + 1;
  }
  return filled;
}

void fill(json& node, const json& params) {
  if (node.is_string()) {
    node = filled_text(node, params);
  } else if (node.is_structured()) {
    for (json& child : node) fill(child, params);
    if (node.is_array()) std::erase(node.get_ref<json::array_t&>(), "");
  }
}

}  // namespace

json filled_figure(const std::filesystem::path& source_dir, const std::string& name, FigureData data) {
  const std::filesystem::path file = source_dir / "plots" / (name + ".vl.json");
  json spec = read_json(file);
  const json palette = read_json(source_dir / "plots/palette.json");
  std::set<std::string> named, phases;
  for (const json& entry : palette) named.insert(entry.at("name"));
  json rows = json::array(), domain = json::array(), range = json::array();
  for (json& value : data.values) {
    if (value.contains("row") && std::ranges::find(rows, value["row"]) == rows.end())
      rows.push_back(value["row"]);
    if (!value.contains("phase")) continue;
    if (!named.contains(value["phase"])) value["phase"] = "other";
    phases.insert(value["phase"]);
  }
  for (const json& entry : palette)
    if (phases.contains(entry.at("name"))) {
      domain.push_back(entry.at("name"));
      range.push_back(entry.at("colour"));
    }
  data.params.update({{"rows", rows}, {"colours", {{"domain", domain}, {"range", range}}}});
  try {
    fill(spec, data.params);
  } catch (const json::out_of_range& error) {
    throw std::runtime_error(
        fmt::format("{}: {}; restore the file from the repository", file.string(), error.what()));
  }
  spec["data"] = {{"values", std::move(data.values)}};
  return spec;
}

}  // namespace harness
