// Copies of a data set in the form that a storage reads. One destination is one file here, named
// pack_<name>.cpp.
#pragma once
#include <filesystem>
#include <functional>
#include <string>

#include "bench/formats/index.h"
#include "bench/registry/registry.h"
#include "harness/base/file_lock.h"

namespace bench {

struct PackRequest {
  Dataset dataset;               // record i of the copy is dataset.images[i]
  std::filesystem::path folder;  // STORE/<fingerprint>, exists
  bool whole = true;             // false: the images are just the first ones of the data set
};

struct PackResult {
  std::filesystem::path location;  // what StorageOptions::location gets; empty: nowhere, `note` says why
  std::string note;
};

// Does nothing where a finished copy exists; never leaves a half copy under the final name.
// Throws std::runtime_error with the next step, or Interrupted.
using Pack = std::function<PackResult(const PackRequest&)>;
using PackRegistry = Registry<Pack>;

// "NAME" for all images, "NAME-first<count>" for some.
std::string packed_name(const std::string& name, const PackRequest& request);

// Held while a copy is made, so that processes that want the same one wait for one another.
base::FileLock lock_to_pack(const std::filesystem::path& folder);

// Makes STORE/<fingerprint>/<name>, a folder that write(folder) fills under a temporary name. It is finished
// when its pack.json says so: of the same format version, data set and number of images; anything else is
// made anew, and where the format has changed stderr says so. Processes that want the same copy wait for one
// another. bytes: what it will occupy, checked before.
PackResult pack_into_folder(const PackRequest& request, const std::string& name, int version, int64_t bytes,
                            const std::function<void(const std::filesystem::path& folder)>& write);

// Calls store(record, descriptor, bytes) for each image of the data set, open for reading, with progress.
// Throws if a file is gone or has changed its size since it was indexed.
void for_each_file(const Dataset& dataset, const std::string& what,
                   const std::function<void(int64_t record, int descriptor, int64_t bytes)>& store);

// Fills `target` from the descriptor, or throws naming `file`.
void read_fully(int descriptor, void* target, int64_t bytes, const std::filesystem::path& file);

}  // namespace bench
