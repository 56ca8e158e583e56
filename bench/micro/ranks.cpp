// Starts itself again under mpirun with the settings, allocator and core binding of a row's ranks.
#include "bench/micro/ranks.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "bench/registry/registry.h"
#include "harness/base/file.h"
#include "harness/base/interrupt.h"
#include "harness/base/listener.h"
#include "harness/base/process_limits.h"
#include "harness/base/scratch.h"
#include "harness/config/emulated_nodes.h"
#include "harness/emulate/two_nodes.h"
#include "harness/launch/rank_commands.h"

namespace bench {

using Words = std::vector<std::string>;

bool started_by_mpi() { return std::getenv("PMIX_RANK") != nullptr; }
bool is_rank() { return started_by_mpi() || (std::getenv("RANK") && std::getenv("WORLD_SIZE")); }

// Why the ranks have no carriers over MPI; empty when they have.
static std::string why_no_mpi() {
  for (const Value& value : registered_values())
    if (value.axis == "backend" && value.name == "mpi" && !value.missing.empty()) return value.missing;
  return base::program_exists("mpirun") ? "" : "mpirun is not in PATH; install openmpi-bin";
}

// The commands that start the ranks of a row over `backend`, but with setting.program, so that the memory
// allocator, the core binding and OpenMPI's settings are the same as in a row.
static harness::Launch launch_of_a_row(const MicroOptions& options, const std::string& backend,
                                       const harness::LaunchSetting& setting) {
  harness::Row row;
  row.nodes = options.nodes;
  row.devices = options.ranks / options.nodes;
  row.cpus = base::process_limits().cores;
  row.strategy = "ddp";
  row.backend = backend;
  harness::Request request;
  request.launcher = "local";
  harness::Launch launch = rank_commands(row, axis_values(), {}, request, setting);
  launch.commands[0].output = launch.commands[0].errors = "";  // of rank 0, or of mpirun
  return launch;
}

static int wait_for_all(const harness::Launch& launch, std::vector<pid_t> pids) {
  int code = 0;
  for (size_t left = pids.size(); left > 0;) {
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, 0);
    if (ended < 0 && errno != EINTR)
      throw std::runtime_error(fmt::format("waiting for the ranks: {}", std::strerror(errno)));
    const auto found = std::find(pids.begin(), pids.end(), ended);
    if (found != pids.end()) {
      *found = 0;
      --left;
      if (status != 0 && code == 0 && !base::interrupted()) {
        code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        const auto number = found - pids.begin();
        const std::string last_lines = base::last_lines(launch.commands[size_t(number)].errors, 3, " | ");
        fmt::print(stderr, "bench_micro: {} {}{}{}{}\n",
                   launch.command_per_rank ? fmt::format("rank {}", number) : "mpirun",
                   base::ended_in_words(code), left == 0 ? "" : ", which ends the others",
                   last_lines.empty() ? "" : "; stderr: ", last_lines);
      }
    }
    if (code == 0 && !base::interrupted()) continue;
    for (const pid_t pid : pids)  // mpirun then ends the ranks
      if (pid != 0) ::kill(pid, launch.command_per_rank ? SIGKILL : SIGTERM);
  }
  return base::interrupted() ? 130 : code;
}

int start_ranks(const MicroOptions& options, const Words& arguments) {
  const std::string no_mpi = why_no_mpi();
  if (!no_mpi.empty()) fmt::print(stderr, "mpi is left out: {}\n", no_mpi);
  base::note_interrupts();
  const base::Scratch scratch;
  std::optional<base::Listener> listener(std::in_place, 0, /*every_interface=*/false);
  harness::LaunchSetting setting;
  setting.directory = setting.scratch = scratch.path();
  setting.port = listener->port();
  setting.listen_fd = listener->fd();
  std::optional<harness::TwoNodes> nodes;
  std::string interface = options.interface;
  if (options.nodes > 1) {
    if (const std::string& reason = harness::why_no_two_nodes(); !reason.empty())
      throw std::runtime_error("--nodes 2: " + reason);
    nodes.emplace(options.link_rate_mbit);
    setting.enter[0] = nodes->enter(0);
    setting.enter[1] = nodes->enter(1);
    setting.cross = nodes->cross(1);
    interface = harness::emulated::kInterface;
  }
  harness::write_remote_shell(setting);
  if (options.nodes > 1)  // entering the namespace has cleared the death signal
    setting.program = {"setpriv", "--pdeathsig", "KILL"};
  if (no_mpi.empty())  // MPI's ranks meet without these, but not those of Gloo
    harness::append(setting.program,
                    {"env", fmt::format("MASTER_PORT={}", setting.port),
                     "MASTER_ADDR=" + (options.nodes > 1 ? harness::emulated::address(0) : "127.0.0.1")});
  // Defaults first, because later options override earlier ones. Colour is set explicitly, because the ranks'
  // stdout may be mpirun's.
  harness::append(setting.program, {std::filesystem::read_symlink("/proc/self/exe"),
                                    "--benchmark_repetitions=5", "--benchmark_min_time=0.1",
                                    fmt::format("--benchmark_color={}", ::isatty(STDOUT_FILENO) != 0)});
  harness::append(setting.program, arguments);
  if (!interface.empty()) setting.program.push_back("--interface=" + interface);
  if (options.link_rate_mbit > 0)
    setting.program.push_back(fmt::format("--link-rate-mbit={}", options.link_rate_mbit));
  const harness::Launch launch = launch_of_a_row(options, no_mpi.empty() ? "mpi" : "gloo", setting);
  if (!launch.command_per_rank) listener.reset();  // rank 0 is no child of this process: it opens the port
  return wait_for_all(launch, base::start_in_session(launch.commands));
}

}  // namespace bench
