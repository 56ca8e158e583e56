// Mounts an object store with rclone (FUSE), with or without a cache of whole files.
#pragma once
#include <cstdint>
#include <optional>

#include "harness/emulate/service.h"
#include "harness/emulate/two_nodes.h"

namespace harness {

// Uses a private mount namespace, so that the kernel removes the mount when rclone ends. Other processes
// access it through /proc/<rclone's pid>/root.
class Mount {
 public:
  struct Cache {
    std::filesystem::path folder;  // empty: no cache
    int64_t bytes = 0;             // size limit, which rclone enforces once a minute
  };

  // Mounts `url` read-only. `folder`: mount point, created if missing. `nodes`: rclone runs in the first of
  // them; may be null. Throws std::runtime_error when mounting fails.
  Mount(const std::string& url, const std::filesystem::path& folder, const std::filesystem::path& log,
        const Cache& cache, const TwoNodes* nodes);

  // Path of the mounted folder for processes of the same user in the same node.
  const std::filesystem::path& path() const { return path_; }
  Service& service() { return *service_; }

 private:
  std::filesystem::path path_;
  std::optional<Service> service_;
};

// Why mounting is impossible on this machine; empty when it is possible. Version of rclone.
const std::string& why_no_mount();
std::string mount_version();

}  // namespace harness
