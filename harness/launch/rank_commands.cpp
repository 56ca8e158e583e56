// Builds one command per rank for this machine, or one mpirun or srun command for all ranks.
#include "harness/launch/rank_commands.h"

#include <fmt/format.h>

#include <cstdlib>

#include "harness/config/emulated_nodes.h"
#include "harness/config/row_traits.h"
#include "harness/launch/followers.h"

namespace harness {
namespace {

// Where the ranks meet: the port of rank 0's store, and for rank 0 the socket that listens on it already.
void set_port(base::Command& command, const LaunchSetting& setting, bool inherits_socket) {
  command.environment["MASTER_PORT"] = std::to_string(setting.port);
  if (!inherits_socket || setting.listen_fd < 0) return;
  command.environment["MASTER_LISTEN_FD"] = std::to_string(setting.listen_fd);
  command.passed_fd = setting.listen_fd;
}

// One command per rank, started by this process.
std::vector<base::Command> local_commands(const Row& row, const AxisValues& values,
                                          const Installation& installation, const Request& request,
                                          const LaunchSetting& setting, bool emulated) {
  const int64_t ranks = world_size(row, values), per_node = ranks_per_node(row, values);
  std::vector<base::Command> commands;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    base::Command command;
    if (emulated) command.arguments = setting.enter[rank / per_node];
    prepare_rank(command, row);
    wrap_rank(command, rank, rank_program(row, installation, setting), request, setting.directory);
    command.environment["RANK"] = std::to_string(rank);
    command.environment["WORLD_SIZE"] = std::to_string(ranks);
    command.environment["LOCAL_RANK"] = std::to_string(rank % per_node);
    command.environment["LOCAL_WORLD_SIZE"] = std::to_string(per_node);
    command.environment["GROUP_RANK"] = std::to_string(rank / per_node);
    if (ranks > 1) {
      if (emulated) listen_on(command, emulated::address(int(rank / per_node)), installation);
      command.environment["MASTER_ADDR"] = emulated ? emulated::address(0) : "127.0.0.1";
      set_port(command, setting, rank == 0 && !emulated);
    }
    command.cpus = rank_cpus(row);
    command.output = setting.directory / fmt::format("rank-{}.stdout", rank);
    command.errors = setting.directory / fmt::format("rank-{}.stderr", rank);
    commands.push_back(std::move(command));
  }
  return commands;
}

// Makes the ranks run in the first node, which a shaped link connects to the object store.
void move_beside_store(base::Command& command, const LaunchSetting& setting, bool mpi) {
  Words words = setting.enter[0];
  append(words, {"setpriv", "--pdeathsig", "KILL"});  // entering the namespace has cleared the death signal
  command.arguments.insert(command.arguments.begin(), words.begin(), words.end());
  if (!mpi) return;
  for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"})
    command.environment[name] = "1";  // inside the namespace an ordinary user is root
}

}  // namespace

Launch rank_commands(const Row& row, const AxisValues& values, const Installation& installation,
                     const Request& request, const LaunchSetting& setting) {
  const std::string launcher = launcher_of(request);
  const bool emulated = emulates_nodes(row, launcher);
  if (launcher == "slurm")
    return {launcher, {srun_command(row, values, installation, request, setting)}, false};
  if (launcher == "env") {
    base::Command command = one_for_all(row, setting);
    wrap_rank(command, rank_of_environment(), rank_program(row, installation, setting), request,
              setting.directory);
    set_port(command, setting, true);
    return {launcher, {command}, false};
  }
  if (launcher == "mpirun")
    return {launcher, {mpirun_command(row, values, installation, request, setting, MpirunOn::hosts)}, false};
  Launch launch{launcher, {}, !started_by_mpi(row, values)};
  if (launch.command_per_rank)
    launch.commands = local_commands(row, values, installation, request, setting, emulated);
  else
    launch.commands = {mpirun_command(row, values, installation, request, setting,
                                      emulated ? MpirunOn::emulated_nodes : MpirunOn::this_machine)};
  if (shapes_store(row))
    for (base::Command& command : launch.commands)
      move_beside_store(command, setting, started_by_mpi(row, values));
  return launch;
}

base::Command on_every_node(const Request& request, int64_t nodes, const Words& arguments) {
  const std::string launcher = launcher_of(request);
  if (launcher == "slurm") return srun_on_every_node(nodes, arguments);
  if (launcher == "mpirun") return mpirun_on_every_node(request, nodes, arguments);
  return {};
}

}  // namespace harness
