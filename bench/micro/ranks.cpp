#include "bench/micro/ranks.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "bench/registry/registry.h"
#include "harness/base/interrupt.h"
#include "harness/base/process_limits.h"
#include "harness/base/scratch.h"
#include "harness/config/emulated_nodes.h"
#include "harness/emulate/two_nodes.h"
#include "harness/launch/rank_commands.h"

namespace bench {

bool is_rank() { return std::getenv("PMIX_RANK") != nullptr; }

static void require_mpi() {
  for (const Value& value : registered_values())
    if (value.axis == "backend" && value.name == "mpi" && !value.missing.empty())
      throw BadOption("--ranks: " + value.missing);
  if (!base::program_exists("mpirun"))
    throw BadOption("--ranks: mpirun, which starts the processes, is not in PATH; install openmpi-bin");
}

// The command that starts the ranks of a row, with `program` instead of train_slice, so that OpenMPI's
// settings, the memory allocator and the core binding are the same as in a row.
static base::Command command_of_a_row(const MicroOptions& options, const std::vector<std::string>& program,
                                      const harness::LaunchSetting& setting) {
  harness::Row row;
  row.nodes = options.nodes;
  row.devices = options.ranks / options.nodes;
  row.cpus = base::process_limits().cores;
  row.strategy = "ddp";
  row.backend = "mpi";
  harness::Installation installation;
  installation.train_slice = program[0];
  base::Command command = harness::mpirun_command(
      row, axis_values(), installation, harness::Request(), setting,
      options.nodes > 1 ? harness::MpirunOn::emulated_nodes : harness::MpirunOn::this_machine);
  auto& words = command.arguments;
  while (words.back() != program[0]) words.pop_back();  // removes train_slice's arguments
  words.insert(words.end(), program.begin() + 1, program.end());
  command.output = command.errors = "";
  return command;
}

static int exit_code_of(pid_t mpirun) {
  int status = 0;
  while (::waitpid(mpirun, &status, 0) < 0) {
    if (errno != EINTR) throw std::runtime_error(fmt::format("waiting for mpirun: {}", std::strerror(errno)));
    if (base::interrupted()) ::kill(mpirun, SIGTERM);  // mpirun then ends the ranks
  }
  if (base::interrupted()) return 130;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int start_ranks(const MicroOptions& options, const std::vector<std::string>& arguments) {
  require_mpi();
  base::note_interrupts();
  const base::Scratch scratch;
  harness::LaunchSetting setting;
  setting.directory = setting.scratch = scratch.path();
  std::optional<harness::TwoNodes> nodes;
  std::string interface = options.interface;
  if (options.nodes > 1) {
    if (const std::string& reason = harness::why_no_two_nodes(); !reason.empty())
      throw BadOption("--nodes 2: " + reason);
    nodes.emplace(options.link_rate_mbit);
    setting.enter[0] = nodes->enter(0);
    setting.enter[1] = nodes->enter(1);
    setting.cross = nodes->cross(1);
    interface = harness::emulated::kInterface;
  }
  harness::write_remote_shell(setting);
  // Defaults first, because later options override earlier ones. Colour is set explicitly, because the ranks'
  // stdout is mpirun's.
  std::vector<std::string> program = {std::filesystem::read_symlink("/proc/self/exe"),
                                      "--benchmark_repetitions=5", "--benchmark_min_time=0.1",
                                      fmt::format("--benchmark_color={}", ::isatty(STDOUT_FILENO) != 0)};
  program.insert(program.end(), arguments.begin(), arguments.end());
  if (!interface.empty()) program.push_back("--interface=" + interface);
  if (options.link_rate_mbit > 0)
    program.push_back(fmt::format("--link-rate-mbit={}", options.link_rate_mbit));
  return exit_code_of(base::start(command_of_a_row(options, program, setting)));
}

#ifndef HAVE_MPI  // otherwise defined in collectives/
int run_rank(const MicroOptions&) {
  throw BadOption("this build has no MPI: install libopenmpi-dev and openmpi-bin and build again");
}
#endif

}  // namespace bench
