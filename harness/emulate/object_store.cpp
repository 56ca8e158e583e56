// nginx runs as one process without a master: a killed master would leave its workers behind. Without disk
// threads (`aio threads`), because they cost 0.15 ms of a core per image instead of 0.04, and the ranks need
// the cores too; so reading an image from disk delays other requests.
#include "harness/emulate/object_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include "harness/base/file.h"
#include "harness/base/interrupt.h"
#include "harness/base/listener.h"
#include "harness/config/emulated_nodes.h"

namespace harness {

namespace fs = std::filesystem;

constexpr int kPortInNode = 8080;  // no other program uses ports in this network namespace

// Paths are relative to the server's folder, because an nginx configuration can't express all path names.
// `user root`: otherwise a root would give the folders to `nobody`, whom a user namespace doesn't know.
constexpr const char* kConfiguration = R"(daemon off;
user root;
master_process off;
pid nginx.pid;
error_log stderr warn;
events {{ worker_connections 1000; }}
http {{
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_timeout 1h;
  keepalive_requests 1000000000;
  default_type application/octet-stream;
  client_body_temp_path scratch;
  proxy_temp_path scratch;
  fastcgi_temp_path scratch;
  uwsgi_temp_path scratch;
  scgi_temp_path scratch;
  server {{
    listen {}:{};
    root root;
    autoindex on;
  }}
}}
)";

// Debian installs nginx in /usr/sbin, which is not in the PATH of ordinary users.
static std::string program() {
  if (base::program_exists("nginx")) return "nginx";
  return ::access("/usr/sbin/nginx", X_OK) == 0 ? "/usr/sbin/nginx" : "";
}

// nginx without a master can't inherit a listening socket, so another program may take the port in between;
// the caller tries again.
static int free_port() { return base::Listener(0, false).port(); }

ObjectStore::ObjectStore(const fs::path& root, const fs::path& folder, const fs::path& log,
                         const TwoNodes* nodes) {
  constexpr int kTries = 3;
  fs::create_directories(folder / "scratch");
  fs::create_directory_symlink(fs::canonical(root), folder / "root");
  for (int tries = 1;; ++tries) try {
      const int port = nodes ? kPortInNode : free_port();
      serve(nodes ? emulated::address(1) : "127.0.0.1", port, folder, log, nodes);
      return;
    } catch (const std::exception&) {  // only a server that has ended may have lost its port
      const bool ended = service_ && !service_->why_ended().empty();
      if (nodes || tries == kTries || !ended || base::interrupted()) throw;
    }
}

void ObjectStore::serve(const std::string& address, int port, const fs::path& folder, const fs::path& log,
                        const TwoNodes* nodes) {
  const fs::path configuration = folder / "nginx.conf", ready = folder / "nginx.pid";
  base::write_whole_file(configuration, fmt::format(kConfiguration, address, port), /*durable=*/false);
  base::Command command;
  auto& words = command.arguments;
  if (nodes) {
    words = nodes->enter(1);
    words.insert(words.end(),
                 {"setpriv", "--pdeathsig", "KILL"});  // entering the namespace has cleared the death signal
  }
  words.insert(words.end(), {program(), "-p", folder.string() + "/", "-c", configuration.string()});
  service_.emplace("the object store (nginx)", command, log);
  service_->wait_until([&] { return fs::exists(ready); });  // written when it listens
  url_ = fmt::format("http://{}:{}/", address, port);
}

fs::path ObjectStore::counter() const { return fmt::format("/proc/{}/io", service_->pid()); }

std::string why_no_object_store() {
  return program().empty()
             ? "program nginx, which serves the images, was not found: install package nginx-light"
             : "";
}

std::string object_store_version() {
  base::Command command;
  command.arguments = {program(), "-v"};
  command.errors_to_output = true;
  const std::string text = base::run_to_end(command).output;  // nginx version: nginx/1.22.1
  const size_t at = text.find("nginx/");
  return at == std::string::npos ? "nginx" : text.substr(at, text.find_first_of(" \n", at) - at);
}

}  // namespace harness
