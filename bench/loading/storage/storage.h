// The interface of storages, the sources of encoded images. Each storage is one file in this folder.
#pragma once
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/formats/index.h"
#include "bench/formats/packed_copy.h"
#include "bench/image/encoded_image.h"
#include "bench/registry/registry.h"

namespace bench {

// One per loader thread. The bytes that read() returns are valid until the reader's next read() or its
// destruction, and in memory: storages that return mapped pages touch them, so that what a disk takes counts
// as reading and never as decoding. read() throws std::runtime_error that names the record if it can't be
// read.
class StorageReader {
 public:
  virtual ~StorageReader() = default;
  virtual EncodedImage read(int64_t record) = 0;
};

// A reader that reads with `read(record)`, which it keeps.
template <class Read>
std::unique_ptr<StorageReader> reader_with(Read read) {
  struct Reader : StorageReader {
    explicit Reader(Read given) : read_(std::move(given)) {}
    EncodedImage read(int64_t record) override { return read_(record); }
    Read read_;
  };
  return std::make_unique<Reader>(std::move(read));
}

// Marks, while it exists, that the calling thread is within a storage: if a library that trusts its file
// crashes there or never returns, the handler of the signal can tell what was read.
struct ReadingStorage {
  static inline thread_local bool now = false;
  static inline std::atomic<int> threads{0};
  ReadingStorage() { now = true, threads.fetch_add(1, std::memory_order_relaxed); }
  ~ReadingStorage() { now = false, threads.fetch_sub(1, std::memory_order_relaxed); }
};

struct StorageOptions {
  Dataset dataset;                 // record i is dataset.images[i]
  std::filesystem::path location;  // of the packed copy; empty: none
  bool readahead = true;           // field `readahead` of the row
  std::vector<int64_t> records;    // the records that this rank's slice will read (sorted, each once)
};

class Storage {
 public:
  virtual ~Storage() = default;
  virtual int64_t size() const = 0;  // number of records
  virtual std::unique_ptr<StorageReader> reader() = 0;
  // The files on disk that hold the given records, for dropping or filling the page cache. Empty: no page
  // cache between this storage and the loader (tmpfs, memory, synthetic).
  virtual std::vector<std::filesystem::path> cached_files(const std::vector<int64_t>&) const { return {}; }
  // Unmaps the pages of these files that this process has mapped, so that they can be dropped; the next
  // access maps them again. Callable while readers read. Nothing in storages that map no files.
  virtual void release_mapped_pages() const {}
  // The storage that was actually used: its name, or that of its fallback (tmpfs -> memory).
  virtual std::string used() const = 0;
  // For warnings: the image's path if known.
  virtual std::string record_name(int64_t record) const { return "record " + std::to_string(record); }
  // True: nothing is read or decoded; the same batches are reused (to measure the compute ceiling).
  virtual bool generates_batches() const { return false; }
};

// Base class of the storages that hold a data set's images. name: what used() returns.
class DatasetStorage : public Storage {
 public:
  DatasetStorage(std::string name, const Dataset& dataset) : dataset_(dataset), name_(std::move(name)) {}
  std::string used() const override { return name_; }
  int64_t size() const override { return static_cast<int64_t>(dataset_.images.size()); }
  std::string record_name(int64_t record) const override {
    return dataset_.images.at(static_cast<size_t>(record)).path;
  }

 protected:
  const Dataset dataset_;

 private:
  const std::string name_;
};

// Base class of those whose readers keep nothing of their own: any thread may call image() at any time.
class SharedStorage : public DatasetStorage {
 public:
  using DatasetStorage::DatasetStorage;
  std::unique_ptr<StorageReader> reader() override {
    return reader_with([this](int64_t record) { return image(record); });
  }

 protected:
  virtual EncodedImage image(int64_t record) const = 0;  // as StorageReader::read()
};

// What the storages of packed copies have in common. what: begins their messages.
class PackedCopy {
 public:
  PackedCopy(const std::string& kind, const StorageOptions& options, std::string what)
      : location_(options.location),
        next_step_(pack_again(kind, location_)),
        needed_(options.records.empty() ? static_cast<int64_t>(options.dataset.images.size())
                                        : options.records.back() + 1),
        what_(std::move(what)) {}
  [[noreturn]] void fail(const std::string& why) const {
    throw std::runtime_error(what_ + " " + why + "; " + next_step_);
  }
  // Fails unless these are enough records for the slice.
  void require(int64_t records) const {
    if (records < needed_)
      fail("holds " + std::to_string(records) + " records and " + std::to_string(needed_) + " are needed");
  }

 protected:
  const std::filesystem::path location_;
  const std::string next_step_;

 private:
  const int64_t needed_;
  const std::string what_;
};

// Base class of storages that change how another one is read.
class StorageAround : public Storage {
 public:
  int64_t size() const override { return storage_->size(); }
  std::vector<std::filesystem::path> cached_files(const std::vector<int64_t>& records) const override {
    return storage_->cached_files(records);
  }
  void release_mapped_pages() const override { storage_->release_mapped_pages(); }
  std::string used() const override { return storage_->used(); }
  std::string record_name(int64_t record) const override { return storage_->record_name(record); }
  bool generates_batches() const override { return storage_->generates_batches(); }

 protected:
  explicit StorageAround(std::unique_ptr<Storage> storage) : storage_(std::move(storage)) {}
  const std::unique_ptr<Storage> storage_;
};

// Traits of a storage value: "packed": true if `make_dataset pack --to NAME` must run first; "transient":
// true if the packed copy must be removed after the run (it occupies memory); "page_cache": false if there is
// none between the storage and the loader; "stream": true if records can only be read approximately in stored
// order (`order: shuffled` is refused). A factory throws std::runtime_error with the next step if the storage
// can't be opened.
using StorageFactory = std::function<std::unique_ptr<Storage>(const StorageOptions&)>;
using StorageRegistry = Registry<StorageFactory>;

// Keeps the images that a slice needs in the memory of this process. Reads the records (none: all) of the
// storage; the others, and those that can't be read now, are read from it when they are asked for. bytes_of:
// a record's size. Throws std::runtime_error where that needs more memory than is free; `instead`: what else
// the user can do.
std::unique_ptr<Storage> in_memory(const char* name, std::unique_ptr<Storage> storage,
                                   std::vector<int64_t> records,
                                   const std::function<size_t(int64_t record)>& bytes_of,
                                   const std::string& instead);

// Wraps a storage to emulate the row fields read_rate (bytes/s, shared by the threads of one rank; pass this
// rank's share of the node's rate) and read_latency_ms (ms per record). Both 0: returns it unchanged.
std::unique_ptr<Storage> throttled(std::unique_ptr<Storage> storage, double bytes_per_second,
                                   double latency_ms);

}  // namespace bench
