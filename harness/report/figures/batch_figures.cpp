// The data of figures that show single batches: all batches of the key rows in order, the timeline of their
// last one, and the ranks of one row by batch.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harness/config/config.h"
#include "harness/report/figures/figure.h"
#include "harness/report/summary/rank_views.h"
#include "harness/stats/records.h"
#include "harness/stats/statistics.h"

namespace harness {
namespace {

using nlohmann::json;

constexpr size_t kMostRows = 6;
constexpr size_t kMostPoints = 600;  // of a row; more would overlap
constexpr int64_t kMostRanks = 4;    // of a timeline; further ranks would look the same
// Limits the stragglers to about 3,000 cells, also with 1,024 ranks and 300 batches.
constexpr size_t kMostRankBins = 32, kMostCells = 3000;

auto place_in_the_article(const SummaryRow& row) {
  const std::vector<std::string>& drawn = article_matrix().drawn;
  return std::ranges::find(drawn, row.id);
}

// At most six measured rows with phase times, in the order of the summary: the rows that the article draws,
// then the first others.
std::vector<const SummaryRow*> key_rows(const Summary& summary) {
  std::vector<const SummaryRow*> rows;
  for (const SummaryRow& row : summary.rows)
    if (row.ok() && row.run.has_samples) rows.push_back(&row);
  std::ranges::stable_sort(
      rows, [](auto* a, auto* b) { return place_in_the_article(*a) < place_in_the_article(*b); });
  if (rows.size() > kMostRows) rows.resize(kMostRows);
  std::ranges::sort(rows);  // pointers into one vector
  return rows;
}

// `No figure: 14 SKIPPED, ...`; empty if no row that the article draws lacks one.
std::string missing_key_rows(const Summary& summary) {
  std::vector<std::string> texts;
  for (const SummaryRow& row : summary.rows)
    if (!row.ok() && place_in_the_article(row) != article_matrix().drawn.end())
      texts.push_back(row.id + " " + row.status);
  return texts.empty() ? "" : fmt::format("No figure: {}; the cascade says why", fmt::join(texts, ", "));
}

// The title of a row's panel: two lines.
json panel_title(const SummaryRow& row, const std::string& below) {
  return {row.id + ": " + row.title, below.empty() ? row.ran : below + " \u00b7 " + row.ran};
}

// The numbers of ranks and batches that every list of {phase: [rank][batch]} has.
std::pair<size_t, size_t> ranks_and_batches(const Samples& samples) {
  size_t ranks = samples.empty() ? 0 : SIZE_MAX, batches = ranks;
  for (const auto& [phase, by_rank] : samples) {
    ranks = std::min(ranks, by_rank.size());
    for (const std::vector<double>& times : by_rank) batches = std::min(batches, times.size());
  }
  return {ranks, ranks == 0 ? 0 : batches};
}

double sum_of_phases(const Samples& samples, size_t rank, size_t batch) {
  double sum = 0;
  for (const auto& [phase, by_rank] : samples) sum += by_rank[rank][batch];
  return sum;
}

// The step of each batch in ms: the slowest rank's sum of phases.
std::vector<double> steps_of(const Samples& samples) {
  const auto [ranks, batches] = ranks_and_batches(samples);
  std::vector<double> steps(batches);
  for (size_t batch = 0; batch < steps.size(); ++batch)
    for (size_t rank = 0; rank < ranks; ++rank)
      steps[batch] = std::max(steps[batch], sum_of_phases(samples, rank, batch));
  return steps;
}

// To four decimals, to keep the figures' files small.
double rounded(double value) { return std::round(value * 1e4) / 1e4; }

void add_points(const std::string& row, const std::vector<double>& steps, long first, json& values) {
  const size_t every = (steps.size() + kMostPoints - 1) / kMostPoints;
  for (size_t begin = 0; begin < steps.size(); begin += every) {
    const auto from = steps.begin() + long(begin),
               to = steps.begin() + long(std::min(begin + every, steps.size()));
    values.push_back(
        {{"row", row}, {"batch", first + long(begin)}, {"ms", rounded(*std::max_element(from, to))}});
  }
}

double ms_of(const Samples& samples, const std::string& phase, int64_t rank, size_t batch) {
  const auto by_rank = samples.find(phase);
  return by_rank == samples.end() ? 0 : by_rank->second[size_t(rank)][batch];
}

// Adds the phases of a rank's batch one after another from `begin_ms` on; what lies before 0 is left out.
void add_phases(const Samples& samples, int64_t rank, size_t batch, const std::string& track, double begin_ms,
                std::vector<TimelineEvent>& events) {
  for (const std::string& phase : phase_names()) {
    const double begin = std::max(begin_ms, 0.0);
    begin_ms += ms_of(samples, phase, rank, batch);
    if (begin_ms > begin) events.push_back({rank, track, phase, begin, begin_ms});
  }
}

// The recorded events of the last batch; of a record without, its phases one after another, starting at 0.
std::vector<TimelineEvent> events_of(const Record& record, bool& recorded) {
  std::vector<TimelineEvent> events;
  for (const TimelineEvent& event : record.timeline ? record.timeline->events : std::vector<TimelineEvent>())
    if (event.rank >= 0 && event.rank < kMostRanks && event.end_ms >= event.begin_ms && !event.name.empty())
      events.push_back(event);
  recorded = !events.empty();
  const Samples& samples = phase_samples(record);
  const auto [ranks, batches] = ranks_and_batches(samples);
  for (int64_t rank = 0; !recorded && batches > 0 && rank < std::min(int64_t(ranks), kMostRanks); ++rank)
    add_phases(samples, rank, batches - 1, "host", 0, events);
  return events;
}

// What the devices did where hosts only launch work (GPUs, emulated devices): each rank's phases of device
// time one after another, because these include the gaps. They are placed by `loss`, which ends for the
// device and for a host that waits for it at once; where it did not wait or there are micro-batches, they are
// left out. Tracks of threads that launch to several devices are renamed, as no device's. Returns whether any
// were added.
bool add_device_events(const Record& record, std::vector<TimelineEvent>& events) {
  const Samples& samples = record.device_ms;
  const auto [ranks, batches] = ranks_and_batches(samples);
  const size_t batch = record.timeline ? size_t(record.timeline->batch) : batches;
  if (batch >= batches) return false;
  std::map<int64_t, std::vector<TimelineEvent>> losses;
  const char* track = "device";
  for (TimelineEvent& event : events) {
    if (event.track == "host" && event.name == "loss") losses[event.rank].push_back(event);
    if (!event.track.starts_with("device ")) continue;
    event.track = "launching to " + event.track;
    track = "device 0";
  }
  const size_t before = events.size();
  for (const auto& [rank, loss] : losses) {
    if (size_t(rank) >= ranks || loss.size() > 1) continue;
    if (loss[0].end_ms - loss[0].begin_ms < ms_of(samples, "loss", rank, batch)) continue;
    double begin_ms = loss[0].end_ms;
    for (const std::string& phase : phase_names()) {
      begin_ms -= ms_of(samples, phase, rank, batch);
      if (phase == "loss") break;
    }
    add_phases(samples, rank, batch, track, begin_ms, events);
  }
  return events.size() > before;
}

const SummaryRow* row_with_most_ranks(const Summary& summary) {
  const SummaryRow* found = nullptr;
  size_t most = 1;
  for (const SummaryRow& row : summary.rows)
    if (const size_t ranks = row.ok() ? ranks_and_batches(phase_samples(*row.record)).first : 0; ranks > most)
      found = &row, most = ranks;
  return found;
}

// [rank][batch]: the rank's time without waits / that of the median rank - 1. A straggler makes the other
// ranks wait, so all steps are equally long; only the times without waits differ.
std::vector<std::vector<double>> lags_of(const Record& record) {
  const Samples& samples = phase_samples(record);
  const auto [ranks, batches] = ranks_and_batches(samples);
  std::vector<std::vector<double>> lags(ranks, std::vector<double>(batches));
  for (size_t batch = 0; batch < batches; ++batch) {
    std::vector<double> own;
    for (size_t rank = 0; rank < ranks; ++rank)
      own.push_back(sum_of_phases(samples, rank, batch) - wait_ms(record, samples, rank, batch));
    const double typical = median(own);
    for (size_t rank = 0; rank < ranks; ++rank) lags[rank][batch] = typical > 0 ? own[rank] / typical - 1 : 0;
  }
  return lags;
}

}  // namespace

FigureData batches_data(const Summary& summary) {
  FigureData data;
  json panels = json::object();
  size_t longest = 0;
  for (const SummaryRow* row : key_rows(summary)) {
    const RunStatistics& run = row->run;
    const std::vector<double> warmup = steps_of(row->record->warmup_ms);
    const std::vector<double> timed = steps_of(phase_samples(*row->record));
    add_points(row->id, warmup, -long(warmup.size()), data.values);
    add_points(row->id, timed, 0, data.values);
    // A point above the limit is drawn there, so that one slow batch doesn't compress the axis.
    data.values.push_back({{"row", row->id},
                           {"median_ms", rounded(run.median_ms)},
                           {"limit_ms", 1.3 * std::max(run.p99_ms, run.median_ms)}});
    panels[row->id] =
        panel_title(*row, fmt::format("median {:.1f} ms, p95 {:.1f} ms", run.median_ms, run.p95_ms));
    longest = std::max(longest, timed.size());
  }
  data.params = {
      {"panels", panels},
      {"missing", missing_key_rows(summary)},
      {"what", longest > kMostPoints ? "time of batches in order; each point is the slowest of several"
                                     : "time of every batch in order"}};
  return data;
}

FigureData timeline_data(const Summary& summary) {
  FigureData data;
  json panels = json::object();
  double longest = 0, shortest = 1e300;
  bool skewed_clocks = false, any_recorded = false, any_device = false;
  for (const SummaryRow* row : key_rows(summary)) {
    const Record& record = *row->record;
    bool recorded = false;
    double end = 0;
    std::vector<TimelineEvent> events = events_of(record, recorded);
    any_device = (recorded && add_device_events(record, events)) || any_device;
    for (const TimelineEvent& event : events) {
      data.values.push_back({{"row", row->id},
                             {"rank", event.rank},
                             {"track", event.track},
                             {"what", event.name},
                             {"phase", event.name},
                             {"begin_ms", rounded(event.begin_ms)},
                             {"end_ms", rounded(event.end_ms)}});
      end = std::max(end, event.end_ms);
      panels[row->id] =
          panel_title(*row, recorded ? "" : "no timeline in the record: its phases laid end to end");
    }
    if (!panels.contains(row->id)) continue;
    any_recorded = any_recorded || recorded;
    longest = std::max(longest, end);
    shortest = std::min(shortest, end);
    skewed_clocks = skewed_clocks || (record.timeline && record.timeline->clocks == "each rank's own");
  }
  data.params = {
      {"panels", panels},
      {"missing", missing_key_rows(summary)},
      {"most_ranks", kMostRanks},
      {"what", any_recorded ? "timeline of the last timed batch" : "the last timed batch, phase after phase"},
      {"device", any_device
                     ? " device: its own phases, placed by the end of `loss`, in which its host waits for it."
                     : ""},
      {"clocks", skewed_clocks ? " With several hosts, each rank starts at 0 of its own clock." : ""},
      {"x_scales", longest > 4 * shortest ? "independent" : "shared"}};
  return data;
}

// Of the row with the most ranks. A cell shows its slowest rank, because a mean would hide a straggler.
FigureData ranks_data(const Summary& summary) {
  FigureData data;
  const SummaryRow* row = row_with_most_ranks(summary);
  if (!row) return data;
  const auto lags = lags_of(*row->record);
  const size_t ranks = lags.size(), batches = lags[0].size();
  const size_t rank_bin = (ranks + kMostRankBins - 1) / kMostRankBins;
  const size_t rank_bins = (ranks + rank_bin - 1) / rank_bin;
  const size_t batch_bin = (batches * rank_bins + kMostCells - 1) / kMostCells;
  std::vector<double> sizes;
  for (size_t first = 0; first < ranks; first += rank_bin)
    for (size_t from = 0; from < batches; from += batch_bin) {
      const size_t to = std::min(from + batch_bin, batches), last = std::min(first + rank_bin, ranks) - 1;
      size_t slowest = first;
      double most = -1;  // the slowest rank's mean lag in these batches
      for (size_t rank = first; rank <= last; ++rank) {
        const auto begin = lags[rank].begin() + long(from), end = lags[rank].begin() + long(to);
        const double lag = std::accumulate(begin, end, 0.0) / double(to - from);
        if (lag > most) most = lag, slowest = rank;
      }
      sizes.push_back(std::abs(most));
      data.values.push_back({{"first", first},
                             {"last", last},
                             {"slowest", slowest},
                             {"from", from},
                             {"to", to},
                             {"lag", rounded(most)}});
    }
  const double limit = std::max(0.01, quantile(sizes, 0.98));
  data.params = {{"row", row->id},
                 {"title", row->title},
                 {"ran", row->ran},
                 {"step", std::clamp(360.0 / double(rank_bins), 9.0, 34.0)},
                 {"axis", rank_bin > 1 ? "ranks (slowest of each group)" : "rank"},
                 {"lags", {-limit, 0, limit}}};
  return data;
}

}  // namespace harness
