// Starts rclone in a mount namespace of its own, so that the mount disappears with it.
#include "harness/emulate/mount.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statfs.h>
#include <unistd.h>

namespace harness {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

static Words private_mounts(bool in_node) {
  Words words = {"unshare", "--mount"};
  if (::geteuid() != 0 && !in_node) words.insert(words.end(), {"--user", "--map-root-user"});
  return words;
}

static bool is_fuse(const fs::path& folder) {
  constexpr long kFuse = 0x65735546;  // statfs(2)
  struct statfs facts {};
  return ::statfs(folder.c_str(), &facts) == 0 && facts.f_type == kFuse;
}

// Images don't change during a row, so file attributes are cached without limit. One try per read: the loader
// replaces unreadable images, and a row must not wait for a server that has ended.
static Words rclone(const std::string& url, const fs::path& folder, const Mount::Cache& cache) {
  Words words = {"rclone", "mount", ":http:", folder, "--read-only", "--low-level-retries=1"};
  for (const char* setting : {"--dir-cache-time=10000h", "--attr-timeout=10000h", "--poll-interval=0",
                              "--contimeout=10s", "--timeout=30s"})
    words.push_back(setting);
  words.insert(words.end(), {"--http-url", url, "--config", folder / "none", "--vfs-cache-mode",
                             cache.folder.empty() ? "off" : "full"});
  if (!cache.folder.empty())
    words.insert(words.end(), {"--cache-dir", cache.folder, "--vfs-cache-max-age", "10000h",
                               "--vfs-cache-max-size", fmt::format("{}B", cache.bytes)});
  return words;
}

Mount::Mount(const std::string& url, const fs::path& folder, const fs::path& log, const Cache& cache,
             const TwoNodes* nodes) {
  fs::create_directories(folder);
  base::Command command;
  if (nodes) command.arguments = nodes->enter(0);
  for (const Words& words : {private_mounts(nodes != nullptr), Words{"setpriv", "--pdeathsig", "KILL"},
                             rclone(url, fs::absolute(folder), cache)})
    command.arguments.insert(command.arguments.end(), words.begin(), words.end());
  for (const char* name : {"NO_PROXY", "no_proxy"}) command.environment[name] = "*";
  service_.emplace("the mount of the object store (rclone)", command, log);
  path_ = fs::path(fmt::format("/proc/{}/root", service_->pid())) / fs::absolute(folder).relative_path();
  service_->wait_until([&] { return is_fuse(path_); });
}

const std::string& why_no_mount() {
  static const std::string reason = []() -> std::string {
    for (const auto& [program, package] : {std::pair("rclone", "rclone"), std::pair("fusermount3", "fuse3")})
      if (!base::program_exists(program))
        return fmt::format(
            "program {} was not found, which mounting the object store needs: install package {}", program,
            package);
    const int device = ::open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (device < 0)
      return "FUSE is missing: /dev/fuse can't be opened (a container needs --device /dev/fuse and --cap-add "
             "SYS_ADMIN)";
    ::close(device);
    base::Command command;
    command.arguments = private_mounts(false);
    command.arguments.push_back("true");
    command.errors_to_output = true;
    const base::Finished finished = base::run_to_end(command);
    return finished.exit_code == 0 ? ""
                                   : "no mount namespace can be made for the object store: " +
                                         finished.output.substr(0, finished.output.find('\n'));
  }();
  return reason;
}

std::string mount_version() {
  const std::string text = base::run_to_end({{"rclone", "version"}, {}, {}, {}, {}}).output;
  return text.substr(0, text.find('\n'));
}

}  // namespace harness
