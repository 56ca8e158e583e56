// Real cgroups, versions 1 and 2, for tests of limits. They need root and a hierarchy that is mounted
// writable.
#pragma once
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

namespace harness {

namespace fs = std::filesystem;

// A new group of one controller, removed at the end.
class RealGroup {
 public:
  explicit RealGroup(const std::string& controller)
      : v2_(fs::exists("/sys/fs/cgroup/cgroup.controllers")),
        folder_((v2_ ? "/sys/fs/cgroup" : "/sys/fs/cgroup/" + controller) + "/suite_test_" +
                std::to_string(::getpid())) {
    if (::mkdir(folder_.c_str(), 0755)) why_not_ = "no group can be made at " + folder_.string();
  }
  ~RealGroup() { ::rmdir(folder_.c_str()); }
  void set(const std::string& v2_file, const std::string& v2_value, const std::string& v1_file,
           const std::string& v1_value) {
    const fs::path file = folder_ / (v2_ ? v2_file : v1_file);
    if (!why_not_.empty()) return;
    if (!(std::ofstream(file) << (v2_ ? v2_value : v1_value) << std::flush))
      why_not_ = file.string() + " can't be set";
  }
  void enter() const { std::ofstream(folder_ / "cgroup.procs") << ::getpid() << std::flush; }
  const std::string& why_not() const { return why_not_; }
  const fs::path& folder() const { return folder_; }

 private:
  const bool v2_;
  const fs::path folder_;
  std::string why_not_;
};

// The exit code of a child in the group that returns what `inside` does.
inline int in_group(const RealGroup& group, const std::function<int()>& inside) {
  const pid_t child = ::fork();
  if (child == 0) {
    group.enter();
    ::_exit(inside());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace harness
