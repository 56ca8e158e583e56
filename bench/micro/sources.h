// The storages for read/ and load/: each holds a sample of the data set's records, packed first if needed.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "bench/loading/storage/storage.h"
#include "bench/micro/options.h"
#include "harness/data/packed_store.h"

namespace bench {

// Opened when its first benchmark runs, and shared by all its benchmarks.
class Source {
 public:
  Source(const MicroOptions& options, const Value& value) : options_(options), value_(value) {}
  // Records 0 to size() - 1 are an evenly spaced sample of the data set. Throws as the storage or its packer.
  Storage& storage();
  const std::string& name() const { return value_.name; }
  int64_t classes() const { return classes_; }  // after storage()
  // Else it has no files that could be dropped.
  bool in_page_cache() const { return value_.traits.page_cache.value_or(true); }
  // Drops (cold) or reads in the files that hold the sample. Closes the storage first, because mapped pages
  // can't be dropped; all readers must be destroyed before.
  void set_page_cache(bool cold);

 private:
  const MicroOptions options_;
  const Value value_;
  std::vector<int64_t> records_;
  std::unique_ptr<harness::CopiesInUse> in_use_;
  std::unique_ptr<harness::TransientCopy> copy_;  // in memory, removed in the end
  std::unique_ptr<Storage> storage_;
  int64_t classes_ = 1;
};

// One per registered storage of this build, except those that need a service (they run only in the matrix)
// and, without --store, those that read packed copies.
std::vector<std::shared_ptr<Source>> sources(const MicroOptions& options);

}  // namespace bench
