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
};

struct RankViews {
  double wall_ms = 0;  // total_s / batches
  // Of all ranks: every rank's phases fill its own time, so their mean does too.
  RankView mean;
  // In each batch the phases of the rank that waited least for others (phases broadcast and sync, and
  // SyncBN's waits): it is the one for which the others waited.
  RankView critical;
  size_t critical_rank = 0;  // the rank that was it most often
  // In this share of the batches, 0-1. Batches in which no rank waited kEvenShare of the wall time less than
  // the mean of the ranks don't count: the ranks were alike.
  double critical_share = 0;
};

// Nullopt for a record without figures or phase clock, or with one rank.
std::optional<RankViews> rank_views(const Record& record);

// Ms in which the rank waited for others in one batch: in the phases broadcast and sync, and in SyncBN.
double wait_ms(const Record& record, const Samples& phases, size_t rank, size_t batch);

struct Summary;
// Two lines per row with several ranks; empty if there is none.
Grid rank_views_grid(const Summary& summary);

// Why ranks wait in `broadcast` and `sync`: what rank_views() says of them.
struct RankWaits {
  double mean_ms = 0;               // mean over ranks
  double critical_ms = 0;           // of the critical path: what also the rank waits that the others wait for
  std::optional<size_t> slow_rank;  // the same rank was critical in kMostBatches of the batches

  // Most of the time is waiting for another rank and not for the wire.
  bool for_a_rank() const { return critical_ms < kMostlyWire * mean_ms; }
};
// Nullopt with one rank.
std::optional<RankWaits> rank_waits(const Record& record);

}  // namespace harness
