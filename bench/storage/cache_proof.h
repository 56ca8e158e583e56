// Brings the page cache into the state that a row asks for, and afterwards proves or refutes that it was so.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "bench/storage/page_cache.h"
#include "bench/storage/storage.h"

namespace bench {

class CacheProof {
 public:
  // requested: cold (pages dropped), warm (pages read in) or as_is. Drops or fills now, and measures
  // residency.
  CacheProof(const std::string& requested, const Storage& storage, const std::vector<int64_t>& records);
  void slice_begins();  // right before the first read
  // encoded_bytes: what the loader delivered since. The record's `cache` object.
  nlohmann::json slice_ended(int64_t encoded_bytes);
  // Empty when the state was as requested or can't be known; else why the row is INVALID. After
  // slice_ended().
  const std::string& violation() const { return violation_; }

 private:
  std::string requested_, used_, violation_;
  bool on_disk_;
  std::optional<double> resident_;
  std::optional<int64_t> read_before_;
};

}  // namespace bench
