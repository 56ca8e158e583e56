// The phases of rows with several ranks, in two views that both add up to the wall time of the window: the
// mean of the ranks, and the critical path.
#pragma once
#include <string>
#include <vector>

#include "harness/contract/record.h"
#include "harness/experiment/policy/policy.h"
#include "harness/report/summary/grid.h"

namespace harness {

// Times are ms per batch, means over the timed batches.
struct RankView {
  std::vector<double> phases_ms;  // in the order of phase_names(); 0 for a phase that the row doesn't have
  double rest_ms = 0;             // wall time - phases: the window's barriers, and hand-overs between ranks

  double waits_ms() const;  // phases broadcast and sync
};

struct RankViews {
  double wall_ms = 0;  // total_s / batches
  // Of all ranks: every rank's phases fill its own time, so their mean does too.
  RankView mean;
  RankView critical;  // in each batch of the rank that waited least (wait_ms()), for which others waited
  size_t critical_rank = 0;  // the rank that was it most often
  // In this share of the batches, 0-1. Batches in which no rank waited kEvenShare of the wall time less than
  // the mean of the ranks don't count: the ranks were alike.
  double critical_share = 0;

  // Most of the waiting is for another rank and not for the wire, which also the critical rank waits for.
  bool for_a_rank() const { return critical.waits_ms() < kMostlyWire * mean.waits_ms(); }
  bool slow_rank() const { return critical_share >= kMostBatches; }  // critical_rank, always the same
};

// Nullopt for a record without figures or phase clock, or with one rank.
std::optional<RankViews> rank_views(const Record& record);

// Ms in which the rank waited for others in one batch: in the phases broadcast and sync, and in SyncBN.
double wait_ms(const Record& record, const Samples& phases, size_t rank, size_t batch);

struct Summary;
// Two lines per row with several ranks; empty if there is none.
Grid rank_views_grid(const Summary& summary);

}  // namespace harness
