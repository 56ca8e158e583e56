// Removing packed copies that no run uses: a store grows with every data set that was ever packed into it.
#pragma once
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace bench {

struct PruneRequest {
  std::filesystem::path store;
  std::set<std::string> keep;  // fingerprints of data sets whose copies stay
  bool dry_run = false;        // say what would be removed
};

struct PrunedFolder {
  std::filesystem::path folder;
  std::string data;   // the data set's own folder, as its index says; empty: no index
  int64_t bytes = 0;  // of its files
  std::string kept;   // why it stays; empty: it was (or would be) removed
};

// Looks at each STORE/<fingerprint>. Removed are copies that make_dataset packed and what an interrupted pack
// left, and with the last of them the data set's index. What holds anything but files is not of
// make_dataset's making and stays; so does what a run uses (it shares the lock STORE/<fingerprint>.in-use)
// and what is being packed. Links are never followed. Throws std::runtime_error when the store can't be read.
std::vector<PrunedFolder> prune(const PruneRequest& request);

}  // namespace bench
