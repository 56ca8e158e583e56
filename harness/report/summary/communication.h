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
  int64_t ranks = 0;
  std::string backend, link;
  double all_reduced_bytes = 0;   // of each rank
  std::vector<int64_t> messages;  // bytes of the last batch's all-reduces, in their order
  double under_way_ms = 0;        // at least one collective was posted and not done (span `communication`)
  // Not hidden by computing: phases `broadcast` (it blocks) and `sync`, and SyncBN's waits. The one
  // definition of exposed communication: tables, verdicts and plots use this figure.
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

struct Summary;

// Rate in Mbit/s of the link that would take the same share of a step on the article's hardware: the ratio of
// all-reduce to computing is equal there and here. With as many ranks in the ring, an all-reduce takes bytes
// / rate, so
//   rate there = rate here * (gradient bytes there / here) * (computing here / there).
// Here: the record's all-reduced bytes, and forward + backward of its ceiling `compute`, on these cores.
// There: 11,689,512 gradients of ResNet18, two bytes each under O2 and O3, else four; forward and backward
// kernels of 231.8 ms for 256 images (row tmpfs, 67.5 + 164.3), times the images of one GPU; with a 16-bit
// precision times 70.1 / 87.989, the article's totals with and without (whether of O1 or O2 it doesn't say).
// nullopt: the link isn't shaped here, devices don't compute, another model, or the record lacks a figure.
std::optional<double> real_link_mbit(const Record& record);

// `17: 200 Mbit/s stand for a link of about 1.8 Gbit/s on the article's GPUs`, for each such row.
std::vector<std::string> link_equivalents(const Summary& summary);

}  // namespace harness
