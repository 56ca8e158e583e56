// Creates and shapes the link with unshare, nsenter, ip and tc; unprivileged users get a user namespace.
#include "harness/emulate/two_nodes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "harness/base/child_process.h"
#include "harness/base/interrupt.h"
#include "harness/base/number.h"
#include "harness/config/emulated_nodes.h"

namespace harness {

namespace fs = std::filesystem;

namespace {

// It tells nothing of what the machine can do.
struct Disturbed : std::runtime_error {
  using runtime_error::runtime_error;
};

void require_undisturbed(const std::string& what, int exit_code) {
  if (exit_code > 128) throw Disturbed(fmt::format("{} {}", what, base::ended_in_words(exit_code)));
}

// `wait`: until it has ended.
void require_undisturbed_holder(pid_t holder, bool wait) {
  require_undisturbed("the process that holds a node's network namespace",
                      base::exit_code_of_child(holder, wait).value_or(0));
}

}  // namespace

// Size in bytes of the token bucket of a shaped link. It must hold several of the kernel's largest segments
// (64 KB), which would otherwise be split into packets, and what a fast link sends within a timer's few
// milliseconds.
static std::string burst(double rate_mbit) {
  constexpr double kLeast_bytes = 256e3, kBytesPerMbit = 400;
  return fmt::format("{:.0f}", std::max(kLeast_bytes, kBytesPerMbit * rate_mbit));
}
constexpr const char* kLatency = "50ms";

TwoNodes::TwoNodes(double rate_mbit, double latency_ms) : user_namespace_(::geteuid() != 0) {
  try {
    for (int node : {0, 1}) hold(node);
    run_in(0, {"ip", "link", "add", emulated::kInterface, "type", "veth", "peer", "name",
               emulated::kInterface, "netns", std::to_string(holders_[1].pid)});
    for (int node : {0, 1}) {
      run_in(node, {"hostname", emulated::host(node)});
      run_in(node, {"ip", "address", "add", emulated::address(node) + "/24", "dev", emulated::kInterface});
      run_in(node, {"ip", "link", "set", emulated::kInterface, "up"});
      run_in(node, {"ip", "link", "set", "lo", "up"});
      // The machine's default congestion control may be BBR, which paces by measured rates and is half as
      // fast on a shaped veth. Reno is in every kernel and fills the link.
      run_in(node, {"ip", "route", "replace", emulated::kNetwork, "dev", emulated::kInterface, "proto",
                    "kernel", "scope", "link", "src", emulated::address(node), "congctl", "reno"});
      shape(node, rate_mbit, latency_ms);
    }
  } catch (...) {
    remove();
    throw;
  }
}

TwoNodes::~TwoNodes() { remove(); }

// Shapes outgoing packets: first delay, then rate limit (tc-netem(8), tc-tbf(8)).
void TwoNodes::shape(int node, double rate_mbit, double latency_ms) const {
  constexpr const char* kPacketsHeld = "100000";  // netem drops packets above this queue length
  std::vector<std::string> delay = {"tc", "qdisc", "add", "dev", emulated::kInterface}, limit = delay;
  if (latency_ms > 0) {
    delay.insert(delay.end(), {"root", "handle", "1:", "netem", "limit", kPacketsHeld, "delay",
                               fmt::format("{:.0f}us", latency_ms / 2 * 1000)});
    run_in(node, delay);
    limit.insert(limit.end(), {"parent", "1:1", "handle", "10:"});
  } else {
    limit.push_back("root");
  }
  if (rate_mbit <= 0) return;
  limit.insert(limit.end(), {"tbf", "rate", fmt::format("{:.0f}kbit", rate_mbit * 1000), "burst",
                             burst(rate_mbit), "latency", kLatency});
  run_in(node, limit);
}

// Starts the process that holds a node's namespaces and waits until they exist.
void TwoNodes::hold(int node) {
  base::Pipe to_holder, from_holder;
  base::Command command;
  if (node == 1) command.arguments = enter(0);  // the second uses the first one's user namespace
  for (const char* word : {"unshare", "--net", "--uts"}) command.arguments.push_back(word);
  if (user_namespace_ && node == 0)
    for (const char* word : {"--user", "--map-root-user"}) command.arguments.push_back(word);
  command.arguments.push_back("cat");
  command.input_fd = to_holder.read.number();
  command.output_fd = from_holder.write.number();
  Holder& holder = holders_[size_t(node)];
  holder = {start(command), std::move(to_holder.write)};
  to_holder.read = base::Descriptor();
  from_holder.write = base::Descriptor();
  // When `cat` has echoed a byte, the namespaces exist.
  char echo = 0;
  ssize_t echoed = -1;
  if (::write(holder.pipe.number(), "\n", 1) == 1)
    while ((echoed = ::read(from_holder.read.number(), &echo, 1)) < 0 && errno == EINTR)
      if (base::interrupted()) throw Disturbed("interrupted while a node's network namespace was made");
  if (echoed == 1) return;
  holder.pipe = base::Descriptor();  // or `cat` would wait for it, and we for `cat`
  require_undisturbed_holder(holder.pid, /*wait=*/true);
  throw std::runtime_error(
      user_namespace_
          ? "network namespaces can't be made: this system allows them only to root (see "
            "kernel.unprivileged_userns_clone and user.max_net_namespaces)"
          : "network namespaces can't be made: the capability CAP_SYS_ADMIN is missing (a container "
            "needs --privileged, or --cap-add SYS_ADMIN --cap-add NET_ADMIN)");
}

std::vector<std::string> TwoNodes::cross(int node) const {
  return {"nsenter", "--target", std::to_string(holders_[size_t(node)].pid), "--net", "--uts"};
}

std::vector<std::string> TwoNodes::enter(int node) const {
  std::vector<std::string> words = cross(node);
  if (user_namespace_) words.insert(words.end(), {"--user", "--preserve-credentials"});
  return words;
}

void TwoNodes::run_in(int node, const std::vector<std::string>& command) const {
  base::Command inside;
  inside.arguments = enter(node);
  inside.arguments.insert(inside.arguments.end(), command.begin(), command.end());
  inside.errors_to_output = true;
  const base::Finished finished = base::run_to_end(inside);
  if (finished.exit_code == 0) return;
  require_undisturbed(fmt::format("`{}`", fmt::join(command, " ")), finished.exit_code);
  for (const Holder& holder : holders_)
    if (holder.pid != 0) require_undisturbed_holder(holder.pid, /*wait=*/false);
  throw std::runtime_error(fmt::format("a link between two network namespaces can't be made: `{}` failed: {}",
                                       fmt::join(command, " "),
                                       finished.output.substr(0, finished.output.find('\n'))));
}

// Pids of all processes in the two network namespaces.
std::vector<pid_t> TwoNodes::processes() const {
  std::error_code error;
  std::vector<fs::path> namespaces;
  for (const Holder& holder : holders_)
    if (holder.pid != 0)
      namespaces.push_back(fs::read_symlink(fmt::format("/proc/{}/ns/net", holder.pid), error));
  const fs::path own = fs::read_symlink("/proc/self/ns/net", error);
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const auto pid = base::number_of<pid_t>(entry.path().filename().string());
    if (!pid) continue;
    const fs::path its = fs::read_symlink(entry.path() / "ns/net", error);
    for (const fs::path& node : namespaces)
      if (!its.empty() && its == node && its != own) found.push_back(*pid);
  }
  return found;
}

void TwoNodes::remove() {
  for (pid_t pid : processes()) ::kill(pid, SIGKILL);
  for (Holder& holder : holders_) {
    if (holder.pid == 0) continue;
    ::kill(holder.pid, SIGKILL);
    while (::waitpid(holder.pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    holder = Holder();
  }
}

static std::string why_not_made(double rate_mbit, double latency_ms) try {
  const TwoNodes tried(rate_mbit, latency_ms);
  return "";
} catch (const Disturbed&) {
  throw;
} catch (const std::exception& error) {
  return error.what();
}

const std::string& why_no_two_nodes() {
  // With a rate, to test also for the kernel's token bucket filter.
  static const std::string reason = why_not_made(200, 0);
  return reason;
}

const std::string& why_no_latency() {
  static const std::string reason = [] {
    if (!why_no_two_nodes().empty()) return why_no_two_nodes();
    const std::string why = why_not_made(200, 1);
    return why.empty() ? why : "latency needs the kernel's packet delay, sch_netem: " + why;
  }();
  return reason;
}

}  // namespace harness
