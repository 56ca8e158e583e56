// Starts ranks with OpenMPI's mpirun: on this machine, on two emulated nodes, or on --hosts or --hostfile.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/uio.h>
#include <unistd.h>

#include "harness/base/file.h"
#include "harness/config/emulated_nodes.h"
#include "harness/launch/rank_commands.h"

namespace harness {

static fs::path remote_shell(const LaunchSetting& setting) { return setting.scratch / "node1.sh"; }
static fs::path node_folder(const LaunchSetting& setting, int node) {
  return setting.scratch / emulated::host(node);
}

// Whether ranks of a node may read each other's memory, which is two to six times as fast as shared buffers
// for large messages. Containers may forbid the system call; OpenMPI would try it again for each message.
static bool may_read_memory() {
  char from = 1, to = 0;
  const iovec source{&from, 1}, target{&to, 1};
  return ::process_vm_readv(::getpid(), &target, 1, &source, 1, 0) == 1;
}

// OpenMPI's options: on this machine pml ob1 with shared memory inside a node and TCP between nodes; on a
// cluster OpenMPI chooses.
static Words mpirun_settings(const LaunchSetting& setting, MpirunOn where) {
  const bool emulated = where == MpirunOn::emulated_nodes;
  Words words = {"--bind-to", "none", "--oversubscribe"};
  const auto set = [&](const char* name, const std::string& value) { append(words, {"--mca", name, value}); };
  if (::geteuid() == 0 || emulated) words.push_back("--allow-run-as-root");
  if (where != MpirunOn::hosts) {
    set("ras", "^slurm");  // otherwise an allocation of Slurm would override --host
    set("plm", "rsh");
    set("pml", "ob1");
    set("btl", emulated ? "vader,tcp,self" : "vader,self");
    set("btl_vader_backing_directory", setting.scratch);
    if (!may_read_memory()) set("btl_vader_single_copy_mechanism", "none");
    set("oob_tcp_if_include", emulated ? emulated::kNetwork : "lo");
    set("mpi_yield_when_idle", "1");  // more ranks than cores
  }
  if (emulated) {
    set("plm_rsh_agent", remote_shell(setting));
    set("btl_tcp_if_include", emulated::kNetwork);
    set("btl_tcp_flags", "1");        // send only, because acknowledgements of puts would queue behind data
    set("rtc_hwloc_vmhole", "none");  // two daemons on one kernel would share a segment and fail at times
  }
  return words;
}

static Words hosts_of(const Request& request) {
  if (!request.hostfile.empty()) return {"--hostfile", fs::absolute(request.hostfile)};
  if (request.hosts.empty()) return {};  // the allocation's nodes, or this machine
  return {"--host", request.hosts};
}

base::Command mpirun_command(const Row& row, const AxisValues& values, const Installation& installation,
                             const Request& request, const LaunchSetting& setting, MpirunOn where) {
  const bool emulated = where == MpirunOn::emulated_nodes;
  const int64_t ranks = world_size(row, values), per_node = ranks_per_node(row, values);
  base::Command command = one_for_all(row, setting);
  leave_out_other_ranks(command);
  if (emulated) {
    command.arguments = setting.enter[0];
    append(command.arguments,
           {"setpriv", "--pdeathsig", "KILL"});  // entering the namespace has cleared the death signal
  }
  append(command.arguments,
         {"mpirun", "-np", std::to_string(ranks), "--map-by", fmt::format("ppr:{}:node", per_node)});
  if (emulated)
    append(command.arguments,
           {"--host", fmt::format("{}:{},{}:{}", emulated::host(0), per_node, emulated::host(1), per_node)});
  else if (where == MpirunOn::this_machine)
    append(command.arguments, {"--host", fmt::format("localhost:{}", per_node)});
  else
    append(command.arguments, hosts_of(request));
  for (const auto& [name, value] : mpi_environment(request)) command.environment[name] = value;
  append(command.arguments, mpirun_settings(setting, where));
  if (where != MpirunOn::hosts) {
    command.environment["TMPDIR"] = node_folder(setting, 0);
    command.cpus = rank_cpus(row);
  }
  if (!started_by_mpi(row, values) ? ranks > 1 : where == MpirunOn::hosts && finds_interface(row, request))
    add_master(command, request, setting);
  for (const auto& [name, value] : command.environment)
    if (name != "TMPDIR") append(command.arguments, {"-x", name});
  if (where != MpirunOn::hosts)
    listen_on(command, emulated ? emulated::address(0) : "127.0.0.1", installation);
  // Ends ranks with mpirun even while they still load LibTorch, which takes seconds on busy cores.
  if (where != MpirunOn::hosts) append(command.arguments, {"setpriv", "--pdeathsig", "KILL"});
  append(command.arguments, wrapped_where("OMPI_COMM_WORLD_RANK", rank_program(row, installation, setting),
                                          request, setting.directory));
  return command;
}

base::Command mpirun_on_every_node(const Request& request, int64_t nodes, const Words& arguments) {
  base::Command command;
  command.arguments = {"mpirun", "-np", std::to_string(nodes), "--map-by", "ppr:1:node", "--oversubscribe"};
  append(command.arguments, hosts_of(request));
  if (::geteuid() == 0) command.arguments.push_back("--allow-run-as-root");
  append(command.arguments, arguments);
  return command;
}

void write_remote_shell(const LaunchSetting& setting) {
  for (int node : {0, 1}) fs::create_directories(node_folder(setting, node));
  const fs::path script = remote_shell(setting);
  base::write_whole_file(
      script,
      fmt::format("#!/bin/sh\n"
                  "shift  # the host name: there is only one other host\n"
                  "export TMPDIR=\"{}\" LISTEN_ADDRESS={}\n"
                  "exec {} /bin/sh -c \"$*\"\n",
                  node_folder(setting, 1).string(), emulated::address(1), fmt::join(setting.cross, " ")),
      /*durable=*/false);
  fs::permissions(script, fs::perms::owner_all);
}

}  // namespace harness
