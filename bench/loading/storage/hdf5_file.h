// The HDF5 file that `make_dataset pack --to hdf5` writes. Verified once; then any thread may read
// concurrently.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/loading/storage/storage.h"
#include "harness/base/regular_file.h"

namespace bench {

class Hdf5File {
 public:
  // Throws std::runtime_error with the next step if the file in options.location is missing, belongs to
  // another data set, is truncated or damaged, or has too few records.
  explicit Hdf5File(const StorageOptions& options);

  const std::filesystem::path& path() const { return path_; }
  int64_t records() const { return static_cast<int64_t>(labels_.size()); }
  int64_t label(int64_t record) const { return labels_[static_cast<size_t>(record)]; }
  // Size of a record. Throws std::runtime_error if it isn't in the file or is larger than 1 GiB.
  size_t bytes(int64_t record) const;
  // Reads bytes(record) bytes into `target`. Throws std::runtime_error that names the record.
  void read(int64_t record, uint8_t* target) const;

 private:
  [[noreturn]] void fail(const std::string& why) const;
  void describe(const std::string& fingerprint);

  std::filesystem::path path_;
  base::RegularFile opened_;
  int64_t images_at_ = 0;  // byte offset in the file
  std::vector<int64_t> offsets_, labels_;
};

}  // namespace bench
