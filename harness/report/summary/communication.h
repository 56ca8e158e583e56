// Communication between the ranks of a row, and how much of its time was hidden by computing.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "harness/contract/record.h"
#include "harness/report/summary/grid.h"

namespace harness {

// Figures are per batch unless noted; times are means over the timed batches and ranks.
struct Communication {
  double all_reduced_bytes = 0;   // of each rank
  std::vector<int64_t> messages;  // bytes of the last batch's all-reduces, in their order
  double under_way_ms = 0;        // at least one collective was posted and not done (span `communication`)
  // Not hidden by computing: phases `broadcast` (it blocks) and `sync`, and SyncBN's waits.
  double exposed_ms = 0;
  double alone_ms = 0;               // the ceiling: the same all-reduces with nothing else running
  std::optional<double> link_share;  // counted / expected bytes on the busiest node's link
  struct Layer {
    std::string name;
    double wait_ms = 0;
  };
  std::vector<Layer> sync_bn;      // waits in forward by SyncBN layer, in order; empty without SyncBN
  double sync_bn_backward_ms = 0;  // waits of all layers together

  double sync_bn_ms() const;  // all waits
};

// Nullopt for a record without figures or with one rank.
std::optional<Communication> communication_of(const Record& record);

struct Summary;
// The waits of each row with SyncBN in a sentence.
std::vector<std::string> sync_bn_texts(const Summary& summary);
// The table below the main one; empty if no row has several ranks.
Grid communication_grid(const Summary& summary);

}  // namespace harness
