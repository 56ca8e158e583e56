// Sets the page cache, or the cache of a mount, to the state that the row requests, and verifies it
// afterwards.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "bench/loading/storage/page_cache.h"
#include "bench/loading/storage/storage.h"
#include "harness/contract/record_parts.h"

namespace bench {

class CacheProof {
 public:
  // requested: cold (drops the pages), warm (reads them in) or as_is. The constructor does so and measures
  // residency. server_counter: /proc/<pid>/io of the object store that the storage reads from; then the bytes
  // that it sends are counted instead of bytes read from a device. Empty for other storages.
  CacheProof(const std::string& requested, const Storage& storage, const std::vector<int64_t>& records,
             std::filesystem::path server_counter = {});
  void slice_begins();  // call right before the first read
  // Returns the record's `cache` object. encoded_bytes: bytes that the loader delivered since slice_begins().
  harness::RecordCache slice_ended(int64_t encoded_bytes);
  // Why the row is INVALID; empty if the state was as requested or is unknown. Call after slice_ended().
  const std::string& violation() const { return violation_; }

 private:
  std::optional<int64_t> bytes_read() const;

  std::string requested_, used_, violation_;
  std::filesystem::path server_counter_;
  bool cached_;
  std::optional<double> resident_;
  std::optional<int64_t> read_before_;
};

}  // namespace bench
