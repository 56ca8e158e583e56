// An HTTP object store for the ranks of a row: nginx on this machine, serving the data set's folder.
#pragma once
#include <optional>

#include "harness/emulate/service.h"
#include "harness/emulate/two_nodes.h"

namespace harness {

class ObjectStore {
 public:
  // Serves the files below `root` until destruction. `folder`: for the server's files, created if missing.
  // `nodes`: the server runs in the second of them and ranks use their link; if null, it uses the loopback
  // interface and a free port. Throws std::runtime_error when it doesn't start.
  ObjectStore(const std::filesystem::path& root, const std::filesystem::path& folder,
              const std::filesystem::path& log, const TwoNodes* nodes);

  const std::string& url() const { return url_; }  // ends in a slash
  // File whose `wchar` (proc(5)) counts the bytes that the server has written to its clients.
  std::filesystem::path counter() const;
  Service& service() { return *service_; }

 private:
  void serve(const std::string& address, int port, const std::filesystem::path& folder,
             const std::filesystem::path& log, const TwoNodes* nodes);

  std::string url_;
  std::optional<Service> service_;
};

// What to install when nginx is missing; otherwise empty. Version of nginx.
std::string why_no_object_store();
std::string object_store_version();

}  // namespace harness
