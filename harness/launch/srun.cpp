// Starts ranks with Slurm's srun in the current allocation.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <regex>

#include "harness/launch/rank_commands.h"

namespace harness {

// Parses SLURM_JOB_CPUS_PER_NODE, processors of each node: `7,1(x2)` is 7, 1, 1. Empty for any other form.
static std::vector<int64_t> processors_of_nodes(const std::string& text) {
  static const std::regex whole(R"(\d{1,9}(\(x\d{1,6}\))?(,\d{1,9}(\(x\d{1,6}\))?)*)"),
      part(R"((\d+)(\(x(\d+)\))?)");
  std::vector<int64_t> processors;
  if (!std::regex_match(text, whole)) return processors;
  for (std::sregex_iterator it(text.begin(), text.end(), part), end; it != end; ++it)
    processors.insert(processors.end(), (*it)[3].matched ? std::stoul((*it)[3]) : 1, std::stol((*it)[1]));
  return processors;
}

std::string why_not_in_allocation(const Row& row, const AxisValues& values) {
  const char* given = std::getenv("SLURM_JOB_CPUS_PER_NODE");
  const std::vector<int64_t> processors = processors_of_nodes(given ? given : "");
  const int64_t ranks = world_size(row, values), per_node = ranks_per_node(row, values);
  const auto fitting = std::ranges::count_if(processors, [&](int64_t count) { return count >= per_node; });
  if (processors.empty() || fitting >= row.nodes) return "";
  return fmt::format(
      "the row has {} process{} on {} node{} and needs a processor for each; the allocation's {} node{} {} "
      "{} (SLURM_JOB_CPUS_PER_NODE); start this command with: salloc -N{} -n{} --ntasks-per-node={}",
      per_node, per_node == 1 ? "" : "es", row.nodes == 1 ? "one" : fmt::format("each of {}", row.nodes),
      row.nodes == 1 ? "" : "s", processors.size(), processors.size() == 1 ? "" : "s",
      processors.size() == 1 ? "has" : "have", given, row.nodes, ranks, per_node);
}

base::Command srun_command(const Row& row, const AxisValues& values, const Installation& installation,
                           const Request& request, const LaunchSetting& setting) {
  const int64_t ranks = world_size(row, values), per_node = ranks_per_node(row, values);
  base::Command command = one_for_all(row, setting);
  leave_out_other_ranks(command);
  if (!started_by_mpi(row, values) ? ranks > 1 : finds_interface(row, request))
    add_master(command, request, setting);
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
         wrapped_where("SLURM_PROCID", rank_program(row, installation, setting), request, setting.directory));
  return command;
}

base::Command srun_on_every_node(int64_t nodes, const Words& arguments) {
  base::Command command;
  const std::string count = std::to_string(nodes);
  command.arguments = {"srun", "--nodes=" + count, "--ntasks=" + count, "--ntasks-per-node=1", "--overlap"};
  append(command.arguments, arguments);
  return command;
}

}  // namespace harness
