// What a loader's thread does for one image: reads, decodes and crops it into its place in a slot. An image
// that can't be used is counted, and the next record that can be takes its place.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "bench/image/decode.h"
#include "bench/loading/loader/bad_images.h"
#include "bench/loading/loader/slot.h"
#include "bench/loading/token_bucket.h"

namespace bench {

class ImageLoader {
 public:
  ImageLoader(Storage& storage, const LoaderOptions& options);  // both must outlive it

  struct Worker {  // of one thread
    std::unique_ptr<StorageReader> reader;
    std::unique_ptr<Decoder> decoder;
    std::string reason;  // of the last record that could not be loaded
  };
  std::unique_ptr<Worker> make_worker() const;

  // Thread-safe for different workers and places. Throws BadDataset: too many bad images, or a label that the
  // model doesn't have.
  void load(Worker& worker, Slot& slot, const Sample& sample, int64_t place);
  // Called once, by any worker, when all places of the slot's batch are loaded: with a batch decoder they are
  // decoded here.
  void decode_together(Worker& worker, Slot& slot);

  void add_to(LoaderStats& stats) const;

 private:
  enum class Crop { alone, together };
  void load_first_good(Worker& worker, Slot& slot, Sample sample, int64_t place, Crop crop);
  bool load_record(Worker& worker, Slot& slot, const Sample& sample, int64_t place, Crop crop);
  std::string name_of(int64_t record) const;
  Sample next_of(Sample sample) const;

  Storage& storage_;
  const LoaderOptions& options_;
  const int64_t image_bytes_;
  TokenBucket pace_;
  BadImages bad_images_;
  std::atomic<int64_t> encoded_bytes_{0};
};

}  // namespace bench
