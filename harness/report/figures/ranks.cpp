// Stragglers: which ranks took longer than the others in which batches, for the row with the most ranks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/report/figures/figure.h"
#include "harness/report/figures/key_rows.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

using nlohmann::json;

// Limits the figure to about 3,000 cells, also with 1,024 ranks and 300 batches.
constexpr size_t kMostRankBins = 32, kMostCells = 3000;

// A straggler makes the other ranks wait, so all steps are equally long. Only the times without waits differ.
bool is_waiting(const std::string& name) { return name == "sync" || name == "broadcast"; }

using ByRank = std::vector<std::vector<double>>;

bool reaches(const ByRank& by_rank, size_t ranks, size_t batches) {
  return by_rank.size() >= ranks && std::all_of(by_rank.begin(), by_rank.end(),
                                                [&](const auto& times) { return times.size() >= batches; });
}

// [rank][batch] in ms: all phases except waits, minus SyncBN's waits within them.
ByRank own_times(const Record& record) {
  const Samples& samples = record.samples_ms;
  ByRank own(ranks_of(samples), std::vector<double>(batches_of(samples)));
  const auto add = [&](const ByRank& by_rank, double sign) {
    for (size_t rank = 0; rank < own.size(); ++rank)
      for (size_t batch = 0; batch < own[rank].size(); ++batch)
        own[rank][batch] += sign * by_rank[rank][batch];
  };
  for (const auto& [phase, by_rank] : samples)
    if (!is_waiting(phase)) add(by_rank, 1);
  if (own.empty()) return own;
  for (const auto& [span, by_rank] : record.spans_ms)
    if (span.rfind("sync_bn", 0) == 0 && reaches(by_rank, own.size(), own[0].size())) add(by_rank, -1);
  return own;
}

const SummaryRow* row_with_most_ranks(const Summary& summary) {
  const SummaryRow* found = nullptr;
  size_t most = 1;
  for (const SummaryRow& row : summary.rows)
    if (const size_t ranks = row.ok() ? ranks_of(row.record->samples_ms) : 0; ranks > most)
      found = &row, most = ranks;
  return found;
}

// Mean over the batches [begin, end) of the rank's time / the median rank's time - 1.
double lag_of(const std::vector<double>& times, const std::vector<double>& medians, size_t begin,
              size_t end) {
  double sum = 0;
  for (size_t batch = begin; batch < end; ++batch)
    sum += medians[batch] > 0 ? times[batch] / medians[batch] - 1 : 0;
  return sum / double(end - begin);
}

std::vector<double> medians_of(const std::vector<std::vector<double>>& own) {
  std::vector<double> medians;
  for (size_t batch = 0; batch < own[0].size(); ++batch) {
    std::vector<double> times;
    for (const auto& rank : own) times.push_back(rank[batch]);
    medians.push_back(median(times));
  }
  return medians;
}

std::string ranks_label(size_t first, size_t end) {
  return end - first == 1 ? std::to_string(first) : fmt::format("{}-{}", first, end - 1);
}

}  // namespace

bool fill_ranks(json& spec, const FigureSource& source) {
  const SummaryRow* row = row_with_most_ranks(source.summary);
  if (!row) return false;
  const auto own = own_times(*row->record);
  const std::vector<double> medians = medians_of(own);
  const size_t ranks = own.size(), batches = medians.size();
  const size_t rank_bin = (ranks + kMostRankBins - 1) / kMostRankBins;
  const size_t rank_bins = (ranks + rank_bin - 1) / rank_bin;
  const size_t batch_bin = (batches * rank_bins + kMostCells - 1) / kMostCells;
  json values = json::array();
  std::vector<double> sizes;
  for (size_t first = 0; first < ranks; first += rank_bin)
    for (size_t begin = 0; begin < batches; begin += batch_bin) {
      const size_t end = std::min(begin + batch_bin, batches), past = std::min(first + rank_bin, ranks);
      size_t slowest = first;  // a cell shows its slowest rank, because a mean would hide a straggler
      for (size_t rank = first; rank < past; ++rank)
        if (lag_of(own[rank], medians, begin, end) > lag_of(own[slowest], medians, begin, end))
          slowest = rank;
      const double lag = lag_of(own[slowest], medians, begin, end);
      sizes.push_back(std::abs(lag));
      values.push_back({{"ranks", ranks_label(first, past)},
                        {"position", first},
                        {"slowest", slowest},
                        {"from", begin},
                        {"to", end},
                        {"lag", rounded(lag)}});
    }
  const double limit = std::max(0.01, quantile(sizes, 0.98));
  spec["data"] = {{"values", values}};
  spec["/height/step"_json_pointer] = std::clamp(360.0 / double(rank_bins), 9.0, 34.0);
  spec["/encoding/y/title"_json_pointer] = rank_bin > 1 ? "ranks (slowest of each group)" : "rank";
  json& scale = spec["/encoding/color/scale"_json_pointer];
  scale = {{"domain", {-limit, 0, limit}}, {"clamp", true}, {"range", source.palette.diverging}};
  set_title(spec, source, fmt::format("stragglers of row {}, {}", row->id, row->title),
            {"A rank's time in a batch without waits (sync, broadcast, SyncBN), relative to the median rank.",
             "Row " + row->id + ": " + row->ran});
  return true;
}

}  // namespace harness
