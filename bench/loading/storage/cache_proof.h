// Sets the page cache, or the cache of a mount, to the state that the row requests, and verifies it
// afterwards.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/loading/storage/kept_cold.h"
#include "bench/loading/storage/page_cache.h"
#include "bench/loading/storage/storage.h"
#include "harness/contract/record_parts.h"

namespace bench {

class CacheProof {
 public:
  // requested: cold (drops the pages), warm (reads them in) or as_is. The constructor does so and measures
  // residency. server_counter: /proc/<pid>/io of the object store that the storage reads from; then the bytes
  // that it sends are counted instead of bytes read from a device. Empty for other storages. counts: of a
  // storage from kept_cold(), else null. reads_here: false where another program reads the files, whose bytes
  // nobody counts; then residency is measured again after a warm slice.
  CacheProof(const std::string& requested, const Storage& storage, const std::vector<int64_t>& records,
             std::filesystem::path server_counter = {}, const ReadCounts* counts = nullptr,
             bool reads_here = true);
  void slice_begins();  // call right before the first read
  // Call as the timed window begins and as each third of it ends. encoded_bytes as for slice_ended().
  void third_begins_or_ends(int64_t encoded_bytes);
  // Returns the record's `cache` object. encoded_bytes: bytes that the loader delivered since slice_begins().
  harness::RecordCache slice_ended(int64_t encoded_bytes);
  // Why the row is INVALID; empty if the state was as requested or is unknown. Call after slice_ended().
  const std::string& violation() const { return violation_; }

 private:
  struct Mark {  // since the process began
    std::optional<int64_t> read;
    int64_t encoded = 0, records = 0, cached = 0;
  };

  std::optional<int64_t> bytes_read() const;
  void prove_thirds(harness::RecordCache& proof);
  void prove_whole_slice(harness::RecordCache& proof, std::optional<double> from_device);

  std::string requested_, used_, metadata_, violation_, remote_file_system_;
  std::filesystem::path server_counter_;
  std::shared_ptr<const void> locked_;  // the pages of a warm row
  bool cached_, reads_here_;
  FileList read_elsewhere_;
  std::optional<double> resident_;
  std::optional<int64_t> read_before_, read_ahead_kb_;
  const ReadCounts* counts_;
  std::vector<Mark> marks_;  // at the window's begin and at the end of each third
};

}  // namespace bench
