// Where encoded images come from. One storage is one file in this folder.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/formats/index.h"
#include "bench/formats/packed_copy.h"
#include "bench/image/encoded_image.h"
#include "bench/registry/registry.h"

namespace bench {

// One per loader thread. read() gives bytes that stay valid until the next read() of the same reader, or its
// end. Throws std::runtime_error naming the record when it can't be read.
class StorageReader {
 public:
  virtual ~StorageReader() = default;
  virtual EncodedImage read(int64_t record) = 0;
};

struct StorageOptions {
  Dataset dataset;                 // what record numbers refer to: record i is dataset.images[i]
  std::filesystem::path location;  // where `make_dataset pack` put it; empty where nothing is packed
  bool readahead = true;           // field `readahead` of the row
  std::vector<int64_t> records;    // the records that this rank's slice will read (sorted, each once)
};

// How many records a packed copy must hold to serve the slice.
inline int64_t records_needed(const StorageOptions& options) {
  return options.records.empty() ? static_cast<int64_t>(options.dataset.images.size())
                                 : options.records.back() + 1;
}

class Storage {
 public:
  virtual ~Storage() = default;
  virtual int64_t size() const = 0;  // records
  virtual std::unique_ptr<StorageReader> reader() = 0;
  // Files of a disk that hold the given records, for dropping or filling the page cache; empty: no page cache
  // lies between this storage and the loader (tmpfs, memory, synthetic).
  virtual std::vector<std::filesystem::path> cached_files(const std::vector<int64_t>&) const { return {}; }
  // False: decoded where they are mapped, so that what decoding leaves out is never read from the disk.
  virtual bool reads_whole_records() const { return true; }
  // What the images really came from: the storage's own name unless it had to fall back (tmpfs -> memory).
  virtual std::string used() const = 0;
  // For warnings: the image's path where it is known.
  virtual std::string record_name(int64_t record) const { return "record " + std::to_string(record); }
  // True: there is nothing to read or decode; batches are made once and handed out again (the compute
  // ceiling).
  virtual bool generates_batches() const { return false; }
};

// What storages of a data set's images share.
class DatasetStorage : public Storage {
 public:
  explicit DatasetStorage(const Dataset& dataset) : dataset_(dataset) {}
  int64_t size() const override { return static_cast<int64_t>(dataset_.images.size()); }
  std::string record_name(int64_t record) const override {
    return dataset_.images.at(static_cast<size_t>(record)).path;
  }

 protected:
  const Dataset dataset_;
};

// Traits of a storage value: "packed": true when `make_dataset pack --to NAME` must run before,
// "transient": true when the packed copy must be removed after the run (it occupies memory), "page_cache":
// false when none lies between it and the loader, "stream": true when records can only be read in about the
// order in which they are stored (order `shuffled` is refused).
using StorageFactory = std::function<std::unique_ptr<Storage>(const StorageOptions&)>;
using StorageRegistry = Registry<StorageFactory>;

// Decorates any storage with the emulated limits of the row fields read_rate (bytes/s, shared by the threads
// of one rank: the caller passes its share of the node's rate) and read_latency_ms (per record). Both 0:
// returns it as is.
std::unique_ptr<Storage> throttled(std::unique_ptr<Storage> storage, double bytes_per_second,
                                   double latency_ms);

}  // namespace bench
