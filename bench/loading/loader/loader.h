// The loader: threads that read, decode and augment images into reused batch buffers.
#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
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

// How the threads share the work of batches, as the row field's help says. Images, labels and their order are
// the same, bit for bit. dataloader: batch n is made by thread n % threads alone. Unlike PyTorch's, these are
// threads, not processes, so nothing is copied through shared memory; and one buffer more than are ahead is
// reused, so a thread also waits while the caller holds two batches.
enum class HandingOver { ring, dataloader };
HandingOver handing_over(const std::string& name);  // the row field; throws std::invalid_argument
inline constexpr int kPrefetchedPerThread = 2;      // prefetch_factor's default

// An external loader: another program makes the batches (external_loader.cpp).
struct ExternalOptions {
  std::vector<std::string> command;      // starts bench/loading/external/ring.py with an adapter
  std::filesystem::path folder;          // for the list of images, the adapter's copies of them and its stack
  int64_t images = 0;                    // that the slice takes, from the first batch on; the list is longer
  int64_t classes = 0;                   // of the data set
  double start_s = 480, silence_s = 48;  // longest waits for the first and for each further batch
  bool hands_over = true;  // false: batches are dropped in the other program, and the ring's are undefined
  bool compares_pixels = true;
};

struct LoaderOptions {
  int64_t batch_size = 0;  // images per batch of this rank
  int64_t image_px = 224;  // side of the square crop
  int threads = 1;         // 0: next() loads in the calling thread
  HandingOver handing_over = HandingOver::ring;
  int ring_depth = 4;  // ring: batch buffers; the loader is at most this many batches ahead
  BatchFormat format = BatchFormat::float32;
  int64_t first_batch = 0;   // number in the sampler's order of the batch that next() returns first
  bool pin_threads = false;  // pins thread i to core first_core + i of those that the process may use
  int first_core = 0;
  // Loader threads run only on otherwise idle cores (SCHED_IDLE). Set for emulated cores: the emulated host
  // has further cores for its ranks, which must not wait for the loader.
  bool background = false;
  SamplerOptions sampler;                         // order, seed, rank and world size
  HostAllocator allocate = BatchBuffer::on_heap;  // allocates the batches' memory
  // Not empty: a batch made in memory of `allocate` is copied into memory of this allocator by one thread for
  // all batches, as DataLoader's pin_memory thread does (with 0 threads: in next()). A batch is complete when
  // it has been copied. Not for batches made on a device, nor for made-up ones.
  HostAllocator copy_to = {};
  DeviceDecoding decoding;  // on a device, to device memory
  double images_per_s = 0;  // all threads together decode no faster, as on fewer cores; 0: no limit
  int64_t classes = 1000;   // a label outside [0, classes) throws BadDataset
  std::string next_step =   // after bad images
      "restore these files, remove them from the data set, or name another one with --data";
  std::optional<ExternalOptions> external;
};

// A finished batch. The loader owns the buffers; they are valid until release().
struct Batch {
  const void* images = nullptr;  // batch_size images in BatchFormat; host or device memory
  const int64_t* labels = nullptr;
  int64_t size = 0;
  int64_t number = -1;                                  // 0, 1, 2, ... since start()
  std::chrono::steady_clock::time_point ready_at = {};  // when its last image was complete
  double read_ms = 0;    // time spent reading this batch's images, summed over threads
  double decode_ms = 0;  // the same for decoding, cropping, resizing and normalising
};

struct LoaderStats {
  int64_t images = 0;         // images loaded so far
  int64_t encoded_bytes = 0;  // encoded size of these images
  int64_t buffer_bytes = 0;   // memory of the batch buffers
  int64_t bad_images = 0;     // unreadable or truncated images, each replaced by the next record
  std::optional<harness::RecordDecoded> decoded = {};  // images decoded so far on a device, and for it
  std::vector<std::string> warnings;                   // the first ten bad images: record and reason
};

// The data set is not usable for training: too many unreadable images, or labels outside the model's classes.
struct BadDataset : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// An external loader made no batch within its time. The text has the place where it waits.
struct LoaderHangs : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// next() and release() must be called from one thread. The destructor waits until each thread has finished
// its current image.
class Loader {
 public:
  virtual ~Loader() = default;
  virtual void start() = 0;                      // starts the threads. Call once.
  virtual Batch next() = 0;                      // waits for the next batch; rethrows an error of the threads
  virtual void release(const Batch& batch) = 0;  // returns the buffer for reuse
  virtual int ready_batches() const = 0;         // complete batches waiting
  virtual LoaderStats stats() const = 0;
  // Of an external loader, after the last next(): compares a sample of what it delivered with what this suite
  // makes of the same images.
  virtual std::optional<harness::RecordExternal> compare() { return std::nullopt; }
};

// Allocates and touches the batch buffers. The storage must outlive the loader. Throws std::invalid_argument
// for sizes below 1; with options.external as make_external_loader().
std::unique_ptr<Loader> make_loader(Storage& storage, const LoaderOptions& options);

// fixed_batches.cpp: the loader of the synthetic storage.
std::unique_ptr<Loader> make_fixed_batches(const LoaderOptions& options);

// external_loader.cpp: starts the program and waits until it is ready. The storage must read the files of a
// data set. Throws BadDataset if the adapter delivers what isn't a batch of the row, ends before the slice
// does or prepares nothing usable; LoaderHangs; std::runtime_error if the program can't be started, fails or
// dies. next() throws the same. The destructor ends the program and all processes that it has started.
std::unique_ptr<Loader> make_external_loader(Storage& storage, const LoaderOptions& options);

}  // namespace bench
