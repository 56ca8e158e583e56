#include "harness/srun.h"

#include <fmt/format.h>

#include "harness/wrap.h"

namespace harness {

Command srun_command(const Row& row, const AxisValues& values, const Workshop& workshop,
                     const Request& request, const LaunchSetting& setting) {
  const int64_t ranks = world_size(row, values), per_node = ranks_per_node(row, values);
  Command command = one_for_all(row, setting);
  if (!started_by_mpi(row, values) && ranks > 1) add_master(command, request, setting);
  command.arguments = {"srun",
                       fmt::format("--nodes={}", row.nodes),
                       fmt::format("--ntasks={}", ranks),
                       fmt::format("--ntasks-per-node={}", per_node),
                       "--distribution=block",
                       "--cpu-bind=none",
                       "--kill-on-bad-exit=1",
                       "--overlap"};
  if (started_by_mpi(row, values)) {
    command.arguments.push_back("--mpi=pmix");
    for (const auto& [name, value] : mpi_environment(request)) command.environment[name] = value;
  }
  append(command.arguments,
         wrapped_where("SLURM_PROCID", train_slice(workshop, setting), request, setting.directory));
  return command;
}

Command srun_on_every_node(int64_t nodes, const Words& arguments) {
  Command command;
  const std::string count = std::to_string(nodes);
  command.arguments = {"srun", "--nodes=" + count, "--ntasks=" + count, "--ntasks-per-node=1", "--overlap"};
  append(command.arguments, arguments);
  return command;
}

}  // namespace harness
