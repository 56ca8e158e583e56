// Reads the affinity mask, and the CPU and memory limits of all enclosing cgroups, versions 1 and 2.
#include "harness/base/process_limits.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <sstream>

namespace base {
namespace {

struct Group {
  std::string name, folder;
  bool v2 = false;
};

bool lists(const std::string& words, const std::string& word) {
  return ("," + words + ",").find("," + word + ",") != std::string::npos;
}

// The number after `key` at the beginning of a line.
std::optional<int64_t> number_in(const std::string& text, const std::string& key) {
  const size_t at = ("\n" + text).find("\n" + key);
  if (at == std::string::npos) return std::nullopt;
  const char* const begin = text.c_str() + at + key.size();
  char* end = nullptr;
  const int64_t number = std::strtoll(begin, &end, 10);
  return end == begin ? std::nullopt : std::optional(number);
}

struct Probe {
  const std::string& root;
  ProcessLimits& limits;

  void note(const std::string& line) const {
    if (!std::ranges::count(limits.notes, line)) limits.notes.push_back(line);
  }

  // Empty if there is no such file: groups have only those of their enabled controllers.
  std::string text_of(const std::string& path) const {
    std::string text;
    char part[4096];
    const int descriptor = ::open((root + path).c_str(), O_RDONLY | O_CLOEXEC);
    ssize_t bytes = descriptor;
    while (descriptor >= 0 && (bytes = ::read(descriptor, part, sizeof part)) > 0)
      text.append(part, size_t(bytes));
    if (bytes < 0 && errno != ENOENT)
      note(root + path + " can't be read (" + std::strerror(errno) + "): taken as no limit");
    if (descriptor >= 0) ::close(descriptor);
    return text;
  }

  // This process's group and those above it, as far as they are mounted.
  std::vector<Group> groups_of(const std::string& controller) const {
    std::vector<Group> groups;
    std::istringstream own(text_of("/proc/self/cgroup"));
    for (std::string id, controllers, path;
         std::getline(own, id, ':') && std::getline(own, controllers, ':') && std::getline(own, path);)
      if (controllers.empty() || lists(controllers, controller))
        add_groups(controllers.empty(), controller, path, groups);
    return groups;
  }

  // In a namespace of cgroups, `path` is relative to its root, and so is the mounted group.
  void add_groups(bool v2, const std::string& controller, const std::string& path,
                  std::vector<Group>& groups) const {
    std::string mounted, folder, below;
    std::istringstream mounts(text_of("/proc/self/mountinfo"));
    for (std::string line; std::getline(mounts, line);) {
      std::istringstream stream(line);
      const std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
      const auto dash = std::ranges::find(words, "-");  // type, source and options follow
      if (words.end() - dash < 4 || dash[1] != (v2 ? "cgroup2" : "cgroup")) continue;
      if (!v2 && !lists(dash[3], controller)) continue;
      const std::string group = words[3] == "/" ? "" : words[3];
      const bool holds = (path + "/").rfind(group + "/", 0) == 0;
      if (!holds && !folder.empty()) continue;
      mounted = group;
      folder = words[4];
      below = holds && path != "/" ? path.substr(group.size()) : "";
    }
    if (below.rfind("/..", 0) == 0)
      return note("cgroup " + path + " isn't below " + folder + ": its limits are unknown");
    for (; !folder.empty(); below.erase(below.rfind('/'))) {
      groups.push_back({(mounted + below).empty() ? "/" : mounted + below, folder + below, v2});
      if (below.empty()) return;
    }
  }

  void read_cores() {
    if (limits.cores < limits.machine_cores) limits.cores_limited_by = "the affinity mask or a cpuset";
    std::optional<bool> limited_in;  // version 2, or 1; groups come before those above them
    for (const Group& group : groups_of("cpu")) {
      const auto read = [&](const char* file) { return text_of(group.folder + file); };
      std::istringstream quota(group.v2 ? read("/cpu.max")
                                        : read("/cpu.cfs_quota_us") + read("/cpu.cfs_period_us"));
      double quota_us = 0, period_us = 0;
      if (!(quota >> quota_us >> period_us) || quota_us <= 0 || period_us <= 0) {  // `max` or -1
        if (limited_in == group.v2) limits.without_quota = root + group.folder;
        continue;
      }
      limited_in = group.v2;
      limits.without_quota.clear();
      limits.throttled_periods += number_in(read("/cpu.stat"), "nr_throttled ").value_or(0);
      if (limits.quota_cores && *limits.quota_cores <= quota_us / period_us) continue;
      limits.quota_cores = quota_us / period_us;
      if (*limits.quota_cores < double(limits.cores))
        limits.cores_limited_by = "the quota of cgroup " + group.name;
    }
    const double quota = limits.quota_cores.value_or(double(limits.cores));
    if (quota < double(limits.cores)) limits.cores = int64_t(std::ceil(quota));
    limits.cores = std::max<int64_t>(1, limits.cores);
    if (limits.cores_limited_by.empty()) return;
    std::ostringstream line;
    line << "cores: " << limits.cores << " of " << limits.machine_cores << ", limited by "
         << limits.cores_limited_by;
    if (quota < double(limits.cores)) line << " (" << quota << " cores)";
    limits.notes.insert(limits.notes.begin(), line.str());
  }

  void read_memory() {
    const std::string machine = text_of("/proc/meminfo");
    const int64_t unlimited = number_in(machine, "MemTotal:").value_or(int64_t(1) << 50) * 1024;
    limits.memory_bytes = unlimited;
    if (const auto kib = number_in(machine, "MemAvailable:")) limits.free_memory_bytes = *kib * 1024;
    for (const Group& group : groups_of("memory")) {
      const auto read = [&](const char* v2, const char* v1, const char* key) {
        return number_in(text_of(group.folder + "/memory." + (group.v2 ? v2 : v1)), key);
      };
      if (!limits.oom_kills) limits.oom_kills = read("events", "oom_control", "oom_kill ");
      const auto limit = read("max", "limit_in_bytes", ""), used = read("current", "usage_in_bytes", "");
      if (!limit || *limit >= unlimited) continue;
      if (*limit < limits.memory_bytes) limits.memory_limited_by = "cgroup " + group.name;
      limits.memory_bytes = std::min(limits.memory_bytes, *limit);
      int64_t free = *limit - used.value_or(0);
      for (const char* part : {"inactive_file ", "active_file "})  // the page cache is given back
        free += read("stat", "stat", ((group.v2 ? "" : "total_") + std::string(part)).c_str()).value_or(0);
      limits.free_memory_bytes = std::min(limits.free_memory_bytes, std::max<int64_t>(0, free));
    }
  }
};

}  // namespace

std::vector<int> available_cpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

ProcessLimits process_limits(const std::string& root, int64_t cores, int64_t machine_cores) {
  ProcessLimits limits;
  limits.cores = cores;
  limits.machine_cores = machine_cores;
  Probe probe{root, limits};
  probe.read_cores();
  probe.read_memory();
  return limits;
}

}  // namespace base
