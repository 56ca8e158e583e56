// What a row whose images come from an object store needs around its ranks: the server, the shaped link to it
// and, for the storages that read through a mount, the mount and its cache.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/base/scratch.h"
#include "harness/config/row_traits.h"
#include "harness/contract/record_extras.h"
#include "harness/emulate/mount.h"
#include "harness/emulate/object_store.h"

namespace harness {

// Why such a row can't run here; empty when it can.
std::string why_no_remote_storage(const Row& row, const std::string& service, const std::string& launcher);

// The object store as `emulated` tells of it.
std::string describe_store_link(const Row& row);

class RemoteStorage {
 public:
  struct Folders {
    std::filesystem::path index;    // of the data set whose folder is served
    std::filesystem::path scratch;  // for the services' own files, in memory
    std::filesystem::path store;    // on a disk: a mount's cache lies below it while the row runs
    std::filesystem::path logs;     // an existing folder
  };
  // Throws std::runtime_error when something doesn't start.
  RemoteStorage(const Row& row, const std::string& service, const Folders& folders);

  const TwoNodes* nodes() const { return nodes_ ? &*nodes_ : nullptr; }  // the ranks belong into the first
  std::string location() const;  // for StorageOptions::location: a URL or a folder
  std::string counter() const { return server_->counter(); }  // of what the server has sent
  // After the ranks have failed: how one of the services ended before they did, which explains it; empty when
  // all still run.
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
