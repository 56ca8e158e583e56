// Brings the page cache, or the cache of a mount, into the state that a row asks for, and afterwards proves
// or refutes that it was so.
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
  // requested: cold (pages dropped), warm (pages read in) or as_is. Drops or fills now, and measures
  // residency. server_counter: /proc/<pid>/io of the object store that the storage reads from, empty for
  // others; bytes that it sends are then the proof in place of bytes from a device.
  CacheProof(const std::string& requested, const Storage& storage, const std::vector<int64_t>& records,
             std::filesystem::path server_counter = {});
  void slice_begins();  // right before the first read
  // encoded_bytes: what the loader delivered since. The record's `cache` object.
  harness::RecordCache slice_ended(int64_t encoded_bytes);
  // Empty when the state was as requested or can't be known; else why the row is INVALID. After
  // slice_ended().
  const std::string& violation() const { return violation_; }

 private:
  std::optional<int64_t> bytes_read() const;

  std::string requested_, used_, violation_;
  double cold_share_;  // of the delivered bytes that must come from the device
  std::filesystem::path server_counter_;
  bool cached_;
  std::optional<double> resident_;
  std::optional<int64_t> read_before_;
};

}  // namespace bench
