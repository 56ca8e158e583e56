// The key rows over the whole run: the share of computing, loading, copying and communication in each batch.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/report/figures/figure.h"
#include "harness/report/figures/key_rows.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

using nlohmann::json;

constexpr size_t kMostBins = 60;

// `broadcast` copies weights between the devices of one process, or statistics between processes.
std::string activity_of(const std::string& phase, bool several_ranks) {
  if (phase == "load" || phase == "other") return phase;
  if (phase == "sync" || (phase == "broadcast" && several_ranks)) return "communication";
  if (phase == "forward" || phase == "loss" || phase == "backward" || phase == "step") return "compute";
  return "copies";
}

void add_bin(const std::string& row, const Samples& samples, size_t begin, size_t end, json& values) {
  const size_t ranks = ranks_of(samples);
  std::map<std::string, double> times;
  double whole = 0;
  for (const auto& [phase, by_rank] : samples)
    for (size_t rank = 0; rank < ranks; ++rank)
      for (size_t batch = begin; batch < end; ++batch) {
        times[activity_of(phase, ranks > 1)] += by_rank[rank][batch];
        whole += by_rank[rank][batch];
      }
  for (const auto& [activity, ms] : times)
    values.push_back({{"row", row},
                      {"batch", begin},
                      {"last", end - 1},
                      {"activity", activity},
                      {"share", whole > 0 ? rounded(ms / whole) : 0}});
}

void add_row(const std::string& row, const Samples& samples, json& values) {
  const size_t batches = batches_of(samples);
  const size_t bin = (batches + kMostBins - 1) / kMostBins;
  const size_t before = values.size();
  size_t last = before;
  for (size_t begin = 0; begin < batches; begin += bin) {
    last = values.size();
    add_bin(row, samples, begin, std::min(begin + bin, batches), values);
  }
  // Repeats the last bin at the end of the run, because the step chart needs an end point.
  for (size_t i = last, end = values.size(); i < end; ++i) {
    json value = values[i];
    value["batch"] = batches;
    values.push_back(value);
  }
}

double share_of(const json& values, const std::string& row, const char* activity) {
  double sum = 0, count = 0;
  for (const json& value : values)
    if (value["row"] == row && value["activity"] == activity) sum += value["share"].get<double>(), ++count;
  return count > 0 ? sum / count : 0;
}

}  // namespace

bool fill_busy(json& spec, const FigureSource& source) {
  json values = json::array();
  std::vector<PanelTitle> panels;
  for (const SummaryRow* row : key_rows(source.summary)) {
    add_row(row->id, row->record->samples_ms, values);
    panels.push_back(
        {row, fmt::format("computes {:.0f} % of the time", 100 * share_of(values, row->id, "compute"))});
  }
  if (panels.empty()) return false;
  const json order = present(source.palette.activities, values, "activity");
  for (json& value : values)
    value["position"] = std::find(order.begin(), order.end(), value["activity"]) - order.begin();
  spec["data"] = {{"values", values}};
  set_panels(spec, panels);
  json& colour = spec["/spec/encoding/color"_json_pointer];
  colour["scale"] = colour_scale(source.palette.activities);
  colour["legend"]["values"] = order;
  set_title(spec, source, "what the ranks did over the whole run", {missing_key_rows(source.summary)});
  return true;
}

}  // namespace harness
