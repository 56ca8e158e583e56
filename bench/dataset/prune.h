// Removes packed copies that no run uses; otherwise a store would only grow.
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
  bool dry_run = false;        // only report what would be removed
};

struct PrunedFolder {
  std::filesystem::path folder;
  std::string data;   // the data set's root folder from its index; empty: no index
  int64_t bytes = 0;  // size of its files
  std::string kept;   // why it stays; empty: it was (or would be) removed
};

// Checks each STORE/<fingerprint>. Removes copies that make_dataset packed, remains of interrupted packs, and
// the data set's index with its last copy. Keeps folders that contain anything but regular files
// (make_dataset writes only those), copies that a run uses (it holds a shared lock on
// STORE/<fingerprint>.in-use) and copies that are being packed. Never follows symbolic links. Throws
// std::runtime_error when the store can't be read.
std::vector<PrunedFolder> prune(const PruneRequest& request);

}  // namespace bench
