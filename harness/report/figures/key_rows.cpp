// Selects key rows and reads their samples, which may have been recorded on another machine.
#include "harness/report/figures/key_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace harness {
namespace {

using nlohmann::json;

constexpr std::array drawn_in_the_article = {"disk", "tmpfs", "7", "10", "12", "16", "lmdb"};
constexpr size_t most = 6;

bool is_drawn(const SummaryRow& row) {
  return std::find(drawn_in_the_article.begin(), drawn_in_the_article.end(), row.id) !=
         drawn_in_the_article.end();
}

}  // namespace

std::vector<const SummaryRow*> key_rows(const Summary& summary) {
  std::vector<const SummaryRow*> measured, chosen;
  for (const SummaryRow& row : summary.rows)
    if (row.ok() && row.run.has_samples) measured.push_back(&row);
  for (const char* id : drawn_in_the_article)
    for (const SummaryRow* row : measured)
      if (row->id == id) chosen.push_back(row);
  for (const SummaryRow* row : measured)
    if (!is_drawn(*row)) chosen.push_back(row);
  if (chosen.size() > most) chosen.resize(most);
  std::sort(chosen.begin(), chosen.end());  // pointers into one vector: the summary's order
  return chosen;
}

std::string missing_key_rows(const Summary& summary) {
  std::vector<std::string> texts;
  for (const SummaryRow& row : summary.rows)
    if (is_drawn(row) && !row.ok()) texts.push_back(row.id + " " + row.status);
  return texts.empty() ? "" : fmt::format("No figure: {}; the cascade says why", fmt::join(texts, ", "));
}

void set_panels(json& spec, const std::vector<PanelTitle>& titles) {
  json order = json::array(), lines = json::object();
  for (const auto& [row, below] : titles) {
    order.push_back(row->id);
    lines[row->id] = {row->id + ": " + row->title, below.empty() ? row->ran : below + " \u00b7 " + row->ran};
  }
  spec["/facet/sort"_json_pointer] = order;
  spec["/facet/header/labelExpr"_json_pointer] = lines.dump() + "[datum.value]";  // JSON is an expression too
  if (titles.size() == 1) spec["columns"] = 1;
}

size_t ranks_of(const Samples& samples) {
  if (samples.empty()) return 0;
  size_t ranks = samples.begin()->second.size();
  for (const auto& [phase, by_rank] : samples) ranks = std::min(ranks, by_rank.size());
  return ranks;
}

size_t batches_of(const Samples& samples) {
  size_t batches = ranks_of(samples) == 0 ? 0 : SIZE_MAX;
  for (const auto& [phase, by_rank] : samples)
    for (const std::vector<double>& times : by_rank) batches = std::min(batches, times.size());
  return batches;
}

std::vector<double> steps_of(const Samples& samples) {
  const size_t ranks = ranks_of(samples);
  std::vector<double> steps(ranks == 0 ? 0 : batches_of(samples));
  for (size_t batch = 0; batch < steps.size(); ++batch)
    for (size_t rank = 0; rank < ranks; ++rank) {
      double sum = 0;
      for (const auto& [phase, by_rank] : samples) sum += by_rank[rank][batch];
      steps[batch] = std::max(steps[batch], sum);
    }
  return steps;
}

double rounded(double value) { return std::round(value * 1e4) / 1e4; }

}  // namespace harness
