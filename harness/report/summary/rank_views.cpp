// Takes as the critical path, batch by batch, the rank that waited least for the others.
#include "harness/report/summary/rank_views.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harness/report/summary/device_time.h"
#include "harness/report/summary/summary.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

using ByRank = std::vector<std::vector<double>>;

double at(const ByRank& by_rank, size_t rank, size_t batch) {
  if (rank >= by_rank.size() || batch >= by_rank[rank].size()) return 0;
  const double ms = by_rank[rank][batch];
  return std::isnan(ms) ? 0 : ms;
}

// The times of `rank_of(batch)` in each batch; mean over batches.
RankView view_of(const Samples& phases, const std::vector<size_t>& rank_of, double wall_ms) {
  RankView view;
  for (const std::string& phase : phase_names()) {
    const auto found = phases.find(phase);
    double ms = 0;
    for (size_t batch = 0; batch < rank_of.size() && found != phases.end(); ++batch)
      ms += at(found->second, rank_of[batch], batch);
    view.phases_ms.push_back(ms / double(rank_of.size()));
  }
  view.rest_ms = wall_ms - std::accumulate(view.phases_ms.begin(), view.phases_ms.end(), 0.0);
  return view;
}

std::vector<std::string> line_of(const std::string& id, const std::string& name, double wall_ms,
                                 const RankView& view, const std::vector<size_t>& shown) {
  std::vector<std::string> line = {id, name, fmt::format("{:.1f}", wall_ms)};
  for (const size_t phase : shown)
    line.push_back(view.phases_ms[phase] > 0 ? fmt::format("{:.1f}", view.phases_ms[phase]) : "-");
  line.push_back(fmt::format("{:.1f}", view.rest_ms));
  return line;
}

}  // namespace

double RankView::waits_ms() const {
  double sum = 0;
  for (size_t phase = 0; phase < phases_ms.size(); ++phase)
    if (phase_names()[phase] == "broadcast" || phase_names()[phase] == "sync") sum += phases_ms[phase];
  return sum;
}

double wait_ms(const Record& record, const Samples& phases, size_t rank, size_t batch) {
  double ms = 0;
  for (const char* phase : {"broadcast", "sync"})
    if (const auto found = phases.find(phase); found != phases.end()) ms += at(found->second, rank, batch);
  for (const auto& [span, by_rank] : record.spans_ms)
    if (span.rfind("sync_bn", 0) == 0) ms += at(by_rank, rank, batch);
  return ms;
}

std::optional<RankViews> rank_views(const Record& record) {
  const bool on_device = has_device_times(record, "forward");
  const Samples& phases = on_device ? record.device_ms : record.samples_ms;
  const auto batches = size_t(record.timed_batches.value_or(0));
  const auto ranks = size_t(record.world_size);
  if (!is_ok(record) || ranks < 2 || batches == 0 || phases.empty()) return std::nullopt;
  RankViews views;
  views.wall_ms = 1000 * record.total_s.value_or(0) / double(batches);
  std::vector<size_t> critical(batches), often(ranks);
  for (size_t batch = 0; batch < batches; ++batch) {
    double waited_ms = wait_ms(record, phases, 0, batch);
    for (size_t rank = 1; rank < ranks; ++rank) {
      waited_ms += wait_ms(record, phases, rank, batch);
      if (wait_ms(record, phases, rank, batch) < wait_ms(record, phases, critical[batch], batch))
        critical[batch] = rank;
    }
    const double least_ms = wait_ms(record, phases, critical[batch], batch);
    if (waited_ms / double(ranks) - least_ms > kEvenShare * views.wall_ms) ++often[critical[batch]];
  }
  views.critical = view_of(phases, critical, views.wall_ms);
  views.critical_rank = size_t(std::ranges::max_element(often) - often.begin());
  views.critical_share = double(often[views.critical_rank]) / double(batches);
  views.mean.phases_ms.assign(phase_names().size(), 0.0);
  for (size_t rank = 0; rank < ranks; ++rank) {
    const RankView one = view_of(phases, std::vector<size_t>(batches, rank), views.wall_ms);
    for (size_t phase = 0; phase < one.phases_ms.size(); ++phase)
      views.mean.phases_ms[phase] += one.phases_ms[phase] / double(ranks);
    views.mean.rest_ms += one.rest_ms / double(ranks);
  }
  return views;
}

Grid rank_views_grid(const Summary& summary) {
  Grid grid;
  grid.title = "phases of several ranks";
  std::vector<std::pair<std::string, RankViews>> rows;
  for (const SummaryRow& row : summary.rows)
    if (row.ok())
      if (auto views = rank_views(*row.record)) rows.emplace_back(row.id, std::move(*views));
  if (rows.empty()) return grid;
  const std::vector<std::string>& names = phase_names();
  std::vector<size_t> shown;
  for (size_t phase = 0; phase < names.size(); ++phase)
    if (std::ranges::any_of(rows, [&](const auto& row) { return row.second.mean.phases_ms[phase] > 0; }))
      shown.push_back(phase);
  grid.columns = {{"row", true}, {"view", true}, {"wall ms"}};
  for (const size_t phase : shown) grid.columns.push_back({names[phase]});
  grid.columns.push_back({"rest"});
  for (const auto& [id, views] : rows) {
    grid.rows.push_back(line_of(id, "mean of ranks", views.wall_ms, views.mean, shown));
    const std::string often = views.critical_share > 0 ? fmt::format("rank {}: {:.0f} %", views.critical_rank,
                                                                     100 * views.critical_share)
                                                       : "ranks alike";
    grid.rows.push_back(
        line_of("", fmt::format("critical path ({})", often), views.wall_ms, views.critical, shown));
  }
  grid.notes = {
      "ms per batch, means. Both views add up to the wall time of the window: wall = phases + rest (the "
      "window's barriers and hand-overs between ranks). mean of ranks: every rank's own phases. critical "
      "path: in each batch the rank that waited least in broadcast, sync and SyncBN, for which the others "
      "waited; in brackets the rank that it was most often, and in how many batches. Evenly spread: the "
      "ranks are alike; always one: it is slow."};
  return grid;
}

}  // namespace harness
