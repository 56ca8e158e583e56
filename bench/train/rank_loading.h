// What one rank reads its batches with: its share of the records, its storage and its loader, as its row sets
// them.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "bench/loading/loader/loader.h"
#include "bench/loading/storage/kept_cold.h"
#include "bench/train/backend/group.h"
#include "bench/train/device/device.h"
#include "harness/contract/job.h"

namespace bench {

class RankLoading {
 public:
  // batch: images per batch of this rank; accelerator: null for a processor, else it may allocate the batches
  // and decode. Opens the storage and makes the loader, which loader().start() starts. Throws BadDataset if
  // the storage is damaged, incomplete or too large for memory. The arguments must outlive it.
  RankLoading(const harness::Job& job, const Dataset& dataset, const RankInfo& rank, int64_t batch,
              Accelerator* accelerator);

  Loader& loader() { return *loader_; }
  const Storage& storage() const { return *storage_; }
  const LoaderOptions& options() const { return options_; }
  // The records that this rank will read in the slice and for its ceiling, sorted, each once.
  const std::vector<int64_t>& records() const { return records_; }

  // Of what was read since the start; null if the row's page cache isn't kept cold.
  const ReadCounts* counts() const { return counts_ ? &*counts_ : nullptr; }

  void close_loader() { loader_.reset(); }  // stops its threads and frees the memory of its batches
  Loader& open_loader();                    // a new one, not started

  // For cold rows, drops what the slice brought in and lets the next loader begin with batches that the slice
  // didn't read. Mapped pages can't be dropped, so every rank opens its storage again. Call on all ranks
  // after close_loader(). Returns false for a mount, whose cache can't be emptied while it is mounted.
  bool cache_is_again_as_before_the_slice(Group& group);

 private:
  void open_storage();

  const harness::Job& job_;
  const harness::Row& row_ = job_.row;
  const Dataset& dataset_;
  const RankInfo rank_;
  std::vector<int64_t> records_;
  LoaderOptions options_;
  std::optional<ReadCounts> counts_;
  std::unique_ptr<Storage> storage_;
  std::unique_ptr<Loader> loader_;
};

}  // namespace bench
