// The loader: threads that read, decode and augment images into a ring of reused batch buffers.
#pragma once
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/image/batch_format.h"
#include "bench/image/decode.h"
#include "bench/loading/loader/batch_buffer.h"
#include "bench/loading/loader/device_decoding.h"
#include "bench/loading/loader/sampler.h"
#include "bench/loading/storage/storage.h"

namespace bench {

struct LoaderOptions {
  int64_t batch_size = 0;  // images per batch of this rank
  int64_t image_px = 224;  // side of the square crop
  int threads = 1;         // 0: next() loads in the calling thread
  int ring_depth = 4;      // batch buffers; the loader is at most this many batches ahead
  BatchFormat format = BatchFormat::float32;
  bool pin_threads =
      false;  // thread i stays on the i-th of the cores that the process may use, from first_core on
  int first_core = 0;
  SamplerOptions sampler;                                    // order, seed, rank and world size
  const std::vector<Augmentation>* augmentations = nullptr;  // of each record, instead of drawn ones
  HostAllocator allocate = BatchBuffer::on_heap;             // memory of the batches
  DeviceDecoding decoding;                                   // by a device, into memory of its own
  int64_t classes = 1000;  // labels at or above this are an error of the data set
};

// A finished batch; its buffers belong to the loader until release().
struct Batch {
  const void* images = nullptr;  // batch_size images in the loader's BatchFormat, where they were allocated
  const int64_t* labels = nullptr;
  int64_t size = 0;
  int64_t number = -1;   // counted from the loader's start
  double read_ms = 0;    // time that threads spent reading this batch's images, added up over the threads
  double decode_ms = 0;  // the same for decoding, cropping, resizing and normalising them
};

struct LoaderStats {
  int64_t images = 0;                 // images put into batches so far
  int64_t encoded_bytes = 0;          // their encoded size
  int64_t buffer_bytes = 0;           // memory of the ring's batches
  int64_t bad_images = 0;             // unreadable or truncated ones, each replaced by the next record
  std::vector<std::string> warnings;  // the first ten, each naming its record and what is wrong with it
};

// One thread calls next() and release(). Destruction ends each thread after the image it is working on.
// The data set itself can't be trained on: too many unreadable images, labels that the model has no class
// for.
struct BadDataset : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Loader {
 public:
  virtual ~Loader() = default;
  virtual void start() = 0;  // starts the threads; the ring is empty until then. Call once.
  virtual Batch next() = 0;  // waits for the next batch in order; rethrows what stopped the threads
  virtual void release(const Batch& batch) = 0;  // gives the buffer back for a later batch
  virtual int ready_batches() const = 0;         // complete batches waiting in the ring
  virtual LoaderStats stats() const = 0;
};

// Allocates the ring's buffers and touches them. The storage must outlive the loader.
std::unique_ptr<Loader> make_loader(Storage& storage, const LoaderOptions& options);

}  // namespace bench
