// Utilisation of emulated devices by their number, with the knee: the answer of `run_matrix feed`.
#include <fmt/format.h>

#include <algorithm>

#include "harness/report/figures/figure.h"
#include "harness/report/summary/feed_answer.h"

namespace harness {
namespace {

using nlohmann::json;

json points_of(const FeedAnswer& answer) {
  json values = json::array();
  for (const FeedPoint& point : answer.points)
    values.push_back({{"devices", point.devices},
                      {"utilisation", point.utilisation},
                      {"images_per_second", point.images_per_second},
                      {"runs", point.runs},
                      {"state", point.utilisation >= kFedFrom ? "fed" : "not fed"}});
  return values;
}

// Left of the middle of a logarithmic axis.
bool in_left_half(double at, double low, double high) { return at * at < low * high; }

}  // namespace

bool fill_feed(json& spec, const FigureSource& source) {
  const auto answer = feed_answer(source.summary);
  if (!answer || answer->points.empty()) return false;
  const double asked = double(answer->asked);
  const double low = std::min(asked, answer->points.front().devices) / 1.15,
               high = std::max(asked, answer->points.back().devices) * 1.15;
  const auto label = [&](double at, double utilisation, const std::string& text) {
    return json{{"devices", at},
                {"utilisation", utilisation},
                {"label", text},
                {"align", in_left_half(at, low, high) ? "left" : "right"}};
  };
  json labels = json::array({label(asked, 0.02, fmt::format("asked: {}", answer->asked))});
  json knee = json::array();
  if (const double whole = double(answer->whole.value_or(0)); whole > 0) {
    labels.push_back(label(whole, 0.12, fmt::format("fed: {}", whole)));
    knee.push_back({{"fed", whole}, {"not_fed", whole + 1}});
  }
  spec["datasets"] = {{"points", points_of(*answer)},
                      {"knee", knee},
                      {"limit", json::array({{{"utilisation", kFedFrom}}})},
                      {"asked", json::array({{{"devices", asked}}})},
                      {"labels", labels}};
  spec["/encoding/x/scale/domain"_json_pointer] = {low, high};
  spec["/encoding/x/title"_json_pointer] =
      fmt::format("number of {} (emulated), logarithmic", answer->device);
  set_title(
      spec, source, fmt::format("how many {} this machine feeds (emulated)", answer->device),
      {fmt::format("dashed: {:.0f} % utilisation, from which a device counts as fed; shaded: where the knee "
                   "lies",
                   100 * kFedFrom)});
  return true;
}

}  // namespace harness
