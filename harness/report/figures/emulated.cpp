// Rows on emulated devices beside the article's seconds and the closed-form model.
#include <fmt/format.h>

#include <algorithm>

#include "harness/report/figures/figure.h"
#include "harness/report/summary/beside_article.h"

namespace harness {
namespace {

using nlohmann::json;

std::string label_of(double seconds) { return fmt::format("{:.{}f} s", seconds, seconds < 10 ? 2 : 1); }

json bar(const BesideArticle& one, const Colours& palette, size_t series, double seconds) {
  return {{"row", one.row->id},     {"title", one.row->title},
          {"differs", one.differs}, {"series", palette.at(series).name},
          {"seconds", seconds},     {"value_label", label_of(seconds)}};
}

}  // namespace

bool fill_emulated(json& spec, const FigureSource& source) {
  const Colours& palette = source.palette.beside_article;
  const std::vector<BesideArticle> rows = beside_article(source.summary);
  json values = json::array(), order = json::array();
  double largest = 0;
  bool any = false;
  for (const BesideArticle& one : rows) {
    order.push_back(one.row->id);
    json line = {{"row", one.row->id}, {"name", one.row->title}, {"settings", one.differs}};
    if (!one.ok()) line.update({{"reason_label", reason_of(*one.row)}, {"reason", one.row->reason}});
    if (const auto error = one.error())
      line.update({{"error_label", fmt::format("{:+.1f} %", 100 * *error)},
                   {"used_label", one.predicted ? "held out" : one.calibrated_on},
                   {"loader_label", one.loader_rate_is_set ? "its loader's rate is a setting" : ""}});
    values.push_back(line);
    if (one.emulated_s) {
      any = true;
      values.push_back(bar(one, palette, 0, *one.emulated_s));
      values.back().update({{"low_s", *one.low_s}, {"high_s", *one.high_s}});
      largest = std::max(largest, *one.high_s);
    }
    if (one.article_s) {
      values.push_back(bar(one, palette, 1, *one.article_s));
      largest = std::max(largest, *one.article_s);
    }
    if (one.model_s) values.push_back(bar(one, palette, 2, *one.model_s));
  }
  if (!any) return false;
  spec["data"] = {{"values", values}};
  spec["/encoding/y/sort"_json_pointer] = order;
  json& colour = spec["/layer/0/encoding/color"_json_pointer];
  colour["scale"] = colour_scale(palette);
  colour["legend"]["values"] = present(palette, values, "series");
  json offset = json::array({palette.at(0).name, palette.at(1).name});
  for (const char* layer : {"/layer/0", "/layer/1"})
    spec[json::json_pointer(std::string(layer) + "/encoding/yOffset/scale/domain")] = offset;
  spec["/layer/0/encoding/x/scale"_json_pointer] = domain_to(largest, 1.2);
  set_title(
      spec, source, "emulated rows beside the article's",
      {"Emulated: seconds of this run brought to the article's batch and time. Loading is this machine's."});
  return true;
}

}  // namespace harness
