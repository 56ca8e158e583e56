// An HTTP object store for the ranks of a row: nginx, serving the data set's folder from this machine.
#pragma once
#include <optional>

#include "harness/emulate/service.h"
#include "harness/emulate/two_nodes.h"

namespace harness {

class ObjectStore {
 public:
  // Serves what lies below `root` until its end. folder: for its own files, made by it. With nodes it runs in
  // the second of them and is reached over their link, else over the loopback interface on a free port.
  // Throws std::runtime_error when it doesn't start.
  ObjectStore(const std::filesystem::path& root, const std::filesystem::path& folder,
              const std::filesystem::path& log, const TwoNodes* nodes);

  const std::string& url() const { return url_; }  // ends in a slash
  // Where the kernel counts what the server has written, to its clients alone: `wchar` (proc(5)).
  std::filesystem::path counter() const;
  Service& service() { return *service_; }

 private:
  void serve(const std::string& address, int port, const std::filesystem::path& folder,
             const std::filesystem::path& log, const TwoNodes* nodes);

  std::string url_;
  std::optional<Service> service_;
};

// What to install, when there is no nginx; and which one there is.
std::string why_no_object_store();
std::string object_store_version();

}  // namespace harness
