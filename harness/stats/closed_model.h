// The closed-form model of a step on an emulated device. It shows how much of an emulated time follows from
// the device file's figures by arithmetic alone, without running anything.
//
//   step = max(load, h2d + scatter + broadcast + reduce + forward + backward + exposed + optimizer)
//
// - load against device: a loader that works ahead hides the shorter of the two, as in DS-Analyzer (Mohan et
//   al., "Analyzing and Mitigating Data Stalls in DNN Training", VLDB 2021). `load` is the loader alone as
//   the record's ceilings have it: it is measured here and not a figure of the device file.
// - forward, backward: linear in the images of one device. h2d: all images of a process.
// - scatter, broadcast, reduce: DataParallel only. n - 1 of n shares of the batch cross to other devices one
//   after another; weights and gradients cross once each.
// - exposed: what backward doesn't hide of the gradients' all-reduces, one after another, each begun when its
//   bucket is ready (Li et al., "PyTorch Distributed", VLDB 2020). An all-reduce of s bytes over n ranks
//   takes 2 (n - 1) latencies and 2 (n - 1) / n s / bandwidth (a ring; NCCL's doc/PERFORMANCE.md in
//   nccl-tests), over several nodes with the lower of the two bandwidths. SyncBN adds two latencies of a
//   collective for each batch-norm layer.
//
// It leaves out the start of the loader, launches and everything that the host does.
#pragma once
#include <algorithm>
#include <optional>

#include "harness/contract/record.h"

namespace harness {

struct ClosedModel {
  double device_ms = 0;           // of the article's batch
  std::optional<double> load_ms;  // of the same batch; empty where the record has no such ceiling
  double step_ms() const { return std::max(load_ms.value_or(0), device_ms); }
};

// Nullopt where the record has no device file, or one without figures for the row's precision, and where the
// model doesn't describe the row: another network than ResNet18, a link without a rate, prefetched copies.
std::optional<ClosedModel> closed_model(const Record& record);

}  // namespace harness
