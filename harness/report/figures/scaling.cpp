// Scaling: images/s and speed-up by the number of devices, with the ideal (linear) speed-up.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/report/figures/figure.h"
#include "harness/report/figures/key_rows.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

using nlohmann::json;

int64_t devices_of(const SummaryRow& row) { return all_devices(row.config); }

// The row with a single device for the speed-up: preferably one that is the base of rows with more devices.
const SummaryRow* single_device(const Summary& summary, int64_t batch) {
  for (const SummaryRow& row : summary.rows) {
    if (!row.ok() || devices_of(row) != 1 || row.config.batch != batch) continue;
    for (const SummaryRow& other : summary.rows)
      if (other.group == "devices" && devices_of(other) > 1 && other.config.base == row.id) return &row;
  }
  for (const SummaryRow& row : summary.rows)
    if (row.ok() && devices_of(row) == 1 && row.config.batch == batch && row.group == "devices") return &row;
  return nullptr;
}

std::string series_of(const SummaryRow& row) {
  if (row.config.nodes > 1) return "several nodes";
  if (row.config.devices == 1 || row.config.strategy == "data_parallel")
    return fmt::format("DataParallel, batch {}", row.config.batch);
  return "a process per device";
}

// Points with the same number of devices that are too close for separate labels share one above the highest.
void add_labels(json& values, const char* field, const char* label_field, double largest) {
  std::vector<json> points;
  for (const json& value : values)
    if (value.contains(field)) points.push_back(value);
  std::sort(points.begin(), points.end(), [&](const json& a, const json& b) {
    return std::make_pair(a["devices"].get<double>(), -a[field].get<double>()) <
           std::make_pair(b["devices"].get<double>(), -b[field].get<double>());
  });
  const json* above = nullptr;
  for (const json& point : points) {
    const bool joins = above && (*above)["devices"] == point["devices"] &&
                       (*above)[field].get<double>() - point[field].get<double>() < 0.06 * largest;
    if (joins)
      values.back()["label"] =
          fmt::format("{}, {}", values.back()["label"].get<std::string>(), point["row"].get<std::string>());
    else
      values.push_back({{"label", point["row"]}, {"devices", point["devices"]}, {label_field, point[field]}});
    above = &point;
  }
}

void add_ideal(const SummaryRow& single, int64_t most, json& values) {
  for (int64_t devices : {int64_t{1}, most})
    values.push_back({{"ideal", series_of(single)},
                      {"devices", devices},
                      {"ideal_images_per_second", double(devices) * single.images_per_second},
                      {"ideal_speed_up", double(devices)}});
}

}  // namespace

bool fill_scaling(json& spec, const FigureSource& source) {
  const Summary& summary = source.summary;
  json values = json::array(), series = json::array();
  std::set<const SummaryRow*> singles;
  std::vector<const SummaryRow*> others;
  int64_t most = 1;
  double fastest = 0, highest = 0;
  const auto add = [&](const SummaryRow& row, const SummaryRow* single) {
    json value = {{"row", row.id},
                  {"title", row.title},
                  {"ran", row.ran},
                  {"series", series_of(row)},
                  {"devices", devices_of(row)},
                  {"images_per_second", row.images_per_second}};
    if (single) value["speed_up"] = row.images_per_second / single->images_per_second;
    highest = std::max(highest, value.value("speed_up", 0.0));
    fastest = std::max(fastest, row.images_per_second);
    most = std::max(most, devices_of(row));
    if (std::find(series.begin(), series.end(), value["series"]) == series.end())
      series.push_back(value["series"]);
    values.push_back(value);
  };
  for (const SummaryRow& row : summary.rows) {
    if (devices_of(row) == 1 || row.group == "threads") continue;
    others.push_back(&row);
    if (!row.ok()) continue;
    const SummaryRow* single = single_device(summary, row.config.batch);
    if (single && singles.insert(single).second) add(*single, nullptr);
    if (single && !values.back().contains("speed_up")) values.back()["speed_up"] = 1.0;
    add(row, single);
  }
  if (most == 1 || singles.empty()) return false;
  for (const SummaryRow* single : singles) add_ideal(*single, most, values);
  const double speed_top = std::min(std::max(2.0, 2.2 * highest), std::max(double(most), 1.25 * highest)),
               images_top = 1.3 * fastest;
  add_labels(values, "images_per_second", "images_label", images_top);
  add_labels(values, "speed_up", "speed_label", speed_top);
  spec["data"] = {{"values", values}};
  for (const char* panel : {"/hconcat/0", "/hconcat/1"}) {
    json& x = spec[json::json_pointer(std::string(panel) + "/encoding/x")];
    x["scale"] = {{"domain", {0.7, double(most) + 0.6}}, {"nice", false}};
    x["title"] = fmt::format("devices ({})", summary.device);
    json ticks = json::array();
    for (const json& value : values)
      if (std::find(ticks.begin(), ticks.end(), value["devices"]) == ticks.end())
        ticks.push_back(value["devices"]);
    x["axis"]["values"] = ticks;
    spec[json::json_pointer(std::string(panel) + "/layer/2/encoding/color/scale/domain")] = series;
    spec[json::json_pointer(std::string(panel) + "/layer/2/encoding/shape/scale/domain")] = series;
  }
  spec["/hconcat/0/layer/2/encoding/y/scale/domain"_json_pointer] = {0, images_top};
  spec["/hconcat/1/layer/2/encoding/y/scale/domain"_json_pointer] = {0, speed_top};
  set_title(spec, source, "scaling with devices", {missing(others)});
  return true;
}

}  // namespace harness
