// What the ranks of a row carried to one another, and how much of the time for it computing hid.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "harness/contract/record.h"
#include "harness/report/summary/grid.h"

namespace harness {

// Per batch unless it says otherwise; times are medians over the timed batches of the mean over ranks.
struct Communication {
  int64_t ranks = 0;
  std::string backend, link;
  double all_reduced_bytes = 0;      // by each rank
  std::vector<int64_t> messages;     // bytes of the last batch's all-reduces, in their order
  double under_way_ms = 0;           // at least one collective was posted and not done (span `communication`)
  double exposed_ms = 0;             // not hidden by backward (phase `sync`), and SyncBN's waits
  double alone_ms = 0;               // the ceiling: the same all-reduces with nothing else running
  std::optional<double> link_share;  // bytes that the busiest node counted on its link, of those expected
  struct Layer {
    std::string name;
    double wait_ms = 0;
  };
  std::vector<Layer> sync_bn;  // waits of each SyncBN layer in forward, in their order; empty without SyncBN
  double sync_bn_backward_ms = 0;  // of all layers together

  double sync_bn_ms() const;  // all waits
  std::string sync_bn_text()
      const;  // `SyncBN waits 1.20 ms in bn1, the first layer, ...`; empty without SyncBN
};

// Nothing for a record without figures, or of one rank.
std::optional<Communication> communication_of(const Record& record);

struct Summary;
// A second table below the main one; empty when no row has several ranks.
Grid communication_grid(const Summary& summary);

}  // namespace harness
