// Storages as read/ and load/ open them: a sample of the data set's records, packed first where that is
// needed.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "bench/loading/storage/storage.h"
#include "bench/micro/options.h"
#include "harness/data/packed_store.h"

namespace bench {

// Opened when the first benchmark of its name runs; serves all of them.
class Source {
 public:
  Source(const MicroOptions& options, const Value& value)
      : options_(options), name_(value.name), packed_(value.traits.value("packed", false)) {}
  // Records 0 to size() - 1 stand for an even sample of the data set. Throws what the storage or its packer
  // throws.
  Storage& storage();
  // Files of the disk that hold the sample.
  std::vector<std::filesystem::path> files() { return storage().cached_files(records_); }
  const std::string& name() const { return name_; }
  int64_t classes() const { return classes_; }  // after storage()
  // Drops (or reads in) the files that hold the sample; true: they lie on a disk, so that it meant something.
  // Opens the storage anew: what is mapped can't be dropped. Readers must be gone.
  bool set_page_cache(bool cold);

 private:
  MicroOptions options_;
  std::string name_;
  bool packed_;
  std::vector<int64_t> records_;
  std::unique_ptr<harness::CopiesInUse> in_use_;
  std::unique_ptr<Storage> storage_;
  int64_t classes_ = 1;
};

// One per registered storage that this build can open by itself; those that need a service run in the matrix
// only.
std::vector<std::shared_ptr<Source>> sources(const MicroOptions& options);

}  // namespace bench
