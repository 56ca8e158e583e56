// A place in the ring of the loader in loader.cpp: the buffers of one batch at a time, and how far it is.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "bench/loading/loader/batch_buffer.h"
#include "bench/loading/loader/loader.h"

namespace bench {

struct Slot {
  static constexpr int kNone = std::numeric_limits<int>::max();
  // Allocates and touches the buffers. `number`: of the slot's first batch.
  Slot(const LoaderOptions& options, int number)
      : buffer(options.batch_size, bytes_per_image(options.format, options.image_px), options.allocate,
               options.decoding.allocate_images),
        open_for(number),
        missing(options.batch_size) {
    if (options.copy_to)
      copy.emplace(options.batch_size, bytes_per_image(options.format, options.image_px), options.copy_to);
    if (options.decoding.make_batch_decoder) {
      together = options.decoding.make_batch_decoder({options.batch_size, options.image_px, options.format});
      samples.resize(size_t(options.batch_size));
    }
  }
  BatchBuffer& handed_over() { return copy ? *copy : buffer; }
  BatchBuffer buffer;
  std::optional<BatchBuffer> copy;
  std::unique_ptr<BatchDecoder> together;  // with it, the place's samples
  std::vector<Sample> samples;
  // Number of the batch that may be written here. Threads with a ticket of a later batch wait on it. (int:
  // the widest type with a direct futex wait.)
  std::atomic<int> open_for;
  std::chrono::steady_clock::time_point ready_at;  // written before `complete`
  std::atomic<int> complete{-1};                   // number of the last batch that was finished here
  std::atomic<int> to_copy{kNone};                 // number of the batch that waits for its copy
  std::atomic<int64_t> missing;                    // images of the batch that are not loaded yet
  std::atomic<int64_t> read_ns{0}, decode_ns{0};   // of all threads
};

}  // namespace bench
