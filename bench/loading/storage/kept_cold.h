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

// Without it, read-ahead brings a set that fits into memory into the page cache before most of its records
// are drawn. Once the readers have read a twentieth of the bytes of the storage's files from the device, all
// that they brought in is dropped, so that a record is found in the cache with a chance of about 2.5 %. (A
// memory limit by control group needs root and would hold the process's own memory too.) In place of mapped
// pages readers return copies, of which dropping takes nothing. Where devices read far ahead (8 MiB are usual
// on virtual disks), so few readers read at the same time that what is under way for them is no more than
// that twentieth. All of this counts as reading, as reclaiming does where memory is short. `records`: those
// that will be read, each once. Where each has its own file, nothing is dropped or copied, only counted.
// `processes` of this machine share the page cache. `counts` must outlive the storage. Returns a storage
// without page cache unchanged.
std::unique_ptr<Storage> kept_cold(std::unique_ptr<Storage> storage, const std::vector<int64_t>& records,
                                   int64_t processes, ReadCounts& counts);

}  // namespace bench
