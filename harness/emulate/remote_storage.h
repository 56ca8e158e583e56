// The services of a row whose images come from an object store: the server, the shaped link to it and, for
// storages that read through a mount, the mount and its cache.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/base/scratch.h"
#include "harness/config/row_traits.h"
#include "harness/contract/record_extras.h"
#include "harness/emulate/mount.h"
#include "harness/emulate/object_store.h"

namespace harness {

// Why a row with such a storage can't run here; empty when it can.
std::string why_no_remote_storage(const Row& row, const std::string& service, const std::string& launcher);

// Description of the object store for a record's `emulated`.
std::string describe_store_link(const Row& row);

class RemoteStorage {
 public:
  struct Folders {
    std::filesystem::path index;    // of the data set whose folder is served
    std::filesystem::path scratch;  // for files of the services, in memory
    std::filesystem::path store;    // on a disk, for a mount's cache while the row runs
    std::filesystem::path logs;     // an existing folder
  };
  // Throws std::runtime_error when something doesn't start.
  RemoteStorage(const Row& row, const std::string& service, const Folders& folders);

  const TwoNodes* nodes() const {
    return nodes_ ? &*nodes_ : nullptr;
  }                              // ranks must run in the first; may be null
  std::string location() const;  // for StorageOptions::location: a URL or a folder
  std::string counter() const { return server_->counter(); }  // see ObjectStore::counter()
  // Call after the ranks have failed: how a service ended, which explains the failure; empty when all still
  // run.
  std::string why_ended();
  RecordObjectStore describe() const;

 private:
  const Row row_;
  std::optional<TwoNodes> nodes_;
  std::optional<ObjectStore> server_;
  std::optional<base::Scratch> cache_;
  Mount::Cache limits_;
  std::optional<Mount> mount_;
};

}  // namespace harness
