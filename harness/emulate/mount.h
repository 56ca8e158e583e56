// A folder of an object store, mounted by rclone (FUSE) with or without a cache of whole files.
#pragma once
#include <cstdint>
#include <optional>

#include "harness/emulate/service.h"
#include "harness/emulate/two_nodes.h"

namespace harness {

// Lives in a mount namespace of its own, so that the mount ends with rclone, however that happens; other
// processes reach it through /proc/<rclone>/root.
class Mount {
 public:
  struct Cache {
    std::filesystem::path folder;  // empty: nothing is kept between two openings of a file
    int64_t bytes = 0;             // looked at once a minute
  };

  // Mounts what `url` serves, read only. folder: made by it. With nodes rclone runs in the first of them.
  // Throws std::runtime_error when it can't be mounted.
  Mount(const std::string& url, const std::filesystem::path& folder, const std::filesystem::path& log,
        const Cache& cache, const TwoNodes* nodes);

  // The mounted folder, for processes of the same user, in the same node.
  const std::filesystem::path& path() const { return path_; }
  Service& service() { return *service_; }

 private:
  std::filesystem::path path_;
  std::optional<Service> service_;
};

// Why nothing can be mounted here; empty when it can. And which rclone there is.
const std::string& why_no_mount();
std::string mount_version();

}  // namespace harness
