// Keeps the page cache of a shuffled storage as small as that of a data set much larger than memory.
#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "bench/loading/storage/storage.h"

namespace bench {

// Records that were read, and those of them for which their thread read nothing from a device: they were in
// the page cache.
struct ReadCounts {
  std::atomic<int64_t> records{0}, cached{0};
};

// Drops all pages of the files each time a twentieth of their bytes was read from the device (why:
// bench/README.md, `cache`), so that a record is found in the cache with a chance of about 2.5 %. Readers
// return copies instead of mapped pages. Where devices read far ahead (often 8 MiB on virtual disks), fewer
// readers read at a time, so that their read-ahead stays below that twentieth. `records`: those that will be
// read, each once; if each has a file of its own, reads are only counted. `processes`: how many on this
// machine share the page cache. `counts` must outlive the storage. A storage without page cache is returned
// unchanged.
std::unique_ptr<Storage> kept_cold(std::unique_ptr<Storage> storage, const std::vector<int64_t>& records,
                                   int64_t processes, ReadCounts& counts);

}  // namespace bench
