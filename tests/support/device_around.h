// A device that does what another one does, for tests that watch or change a part of it.
#pragma once
#include "tests/support/training_setup.h"

class DeviceAround : public bench::Device {
 public:
  explicit DeviceAround(bench::Device& inner) : inner_(inner) {}
  at::Device torch_device() const override { return inner_.torch_device(); }
  std::string name() const override { return inner_.name(); }
  bench::DeviceBatch copy_batch(const bench::Batch& batch) override { return inner_.copy_batch(batch); }
  std::optional<bench::Batch> take_copied() override { return inner_.take_copied(); }

 private:
  bench::Device& inner_;
};

inline bench::SliceParts parts_on(bench::Device& device, bench::TinyRank& rank, bench::Loader& loader) {
  return {rank.row,       loader,      device,     *rank.model, *rank.precision,
          *rank.strategy, *rank.group, *rank.link, rank.spans,  rank.slot};
}
