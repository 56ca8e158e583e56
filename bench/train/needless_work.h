// What a careless training program adds to its steps, so that its cost can be measured: row fields `needless`
// and `retain_graph`. Scaling guides for PyTorch name these habits; none of them changes what is trained.
#pragma once
#include "bench/train/device/device.h"

namespace bench {

class NeedlessWork {
 public:
  // Both must outlive the object.
  NeedlessWork(const harness::Row& row, Device& device) : row_(row), device_(device) {}
  static bool wanted(const harness::Row& row) { return row.needless != "none" || row.retain_graph; }

  void before_copy(const Batch& host) const;  // in phase h2d
  void after_copy(DeviceBatch& data) const;   // in phase h2d; may replace the images by a copy
  void after_phase() const;                   // forward, loss, backward and step
  void after_step() const;
  // Before backward: the sum of all losses keeps every batch's graph, without what backward frees.
  void keep(const at::Tensor& loss);

 private:
  const harness::Row& row_;
  Device& device_;
  at::Tensor total_;
};

}  // namespace bench
