// The folder of packed copies (data/packed): what it holds, and that a run uses some of it.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "harness/base/file_lock.h"
#include "harness/config/installation.h"

namespace harness {

// A share of a data set's copies, STORE/<fingerprint>, while it lives: `make_dataset prune` leaves them
// alone. What was there before may be gone by the time the share is held. Where the file system has no locks,
// says so on stderr and goes on without.
class CopiesInUse {
 public:
  explicit CopiesInUse(const fs::path& folder);
  ~CopiesInUse();
  CopiesInUse(const CopiesInUse&) = delete;
  CopiesInUse& operator=(const CopiesInUse&) = delete;

 private:
  fs::path lock_file_;
  std::optional<base::FileLock> share_;
};

struct StoreRoom {
  int64_t bytes = 0, of_others = 0;  // of all files; of those that belong to other data sets with copies
  int64_t others = 0;                // these data sets
};
StoreRoom room_of_store(const fs::path& store, const std::set<std::string>& own_fingerprints);

// One line about the store: where it is, how large, and how to remove what belongs to other data sets.
std::string describe_store(const fs::path& store, const StoreRoom& room, const fs::path& make_dataset,
                           const std::set<std::string>& own_fingerprints);

}  // namespace harness
