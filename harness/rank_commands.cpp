#include "harness/rank_commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "harness/machine.h"
#include "harness/two_nodes.h"

namespace harness {
namespace {

using Words = std::vector<std::string>;

void append(Words& words, const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

bool started_by_mpi(const Row& row, const AxisValues& values) {
  return trait(values, "backend", row.backend, "started_by_mpi", false);
}

// One policy for all rows, because glibc's default costs up to a third of a CPU step: freed memory is kept
// instead of being given back to the kernel and faulted in again.
std::map<std::string, std::string> environment_of(const Row& row) {
  std::map<std::string, std::string> environment;
  if (row.malloc == "retain")
    environment = {
        {"MALLOC_ARENA_MAX", "1"}, {"MALLOC_TRIM_THRESHOLD_", "4294967296"}, {"MALLOC_MMAP_MAX_", "0"}};
  environment["OMP_NUM_THREADS"] = std::to_string(row.intra_op_threads);
  return environment;
}

std::vector<int> cpus_of(const Row& row) {
  std::vector<int> cpus = available_cpus();
  cpus.resize(size_t(std::min<int64_t>(row.cpus, int64_t(cpus.size()))));
  return cpus;
}

Words train_slice(const Workshop& workshop, const LaunchSetting& setting) {
  return {workshop.train_slice, "--job", setting.directory / "job.json"};
}

Command one_for_all(const Row& row, const LaunchSetting& setting) {
  Command command;
  command.environment = environment_of(row);
  command.environment["RANK_LOGS"] = setting.directory;  // each rank opens its own files there
  command.output = setting.directory / "launcher.stdout";
  command.errors = setting.directory / "launcher.stderr";
  return command;
}

// A process for each rank, started by this one.
std::vector<Command> local_commands(const Row& row, const AxisValues& values, const Workshop& workshop,
                                    const LaunchSetting& setting, bool emulated) {
  const int64_t ranks = world_size(row, values), per_node = ranks / row.nodes;
  std::vector<Command> commands;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    Command command;
    if (emulated) command.arguments = setting.enter[rank / per_node];
    append(command.arguments, train_slice(workshop, setting));
    command.environment = environment_of(row);
    command.environment["RANK"] = std::to_string(rank);
    command.environment["WORLD_SIZE"] = std::to_string(ranks);
    command.environment["LOCAL_RANK"] = std::to_string(rank % per_node);
    command.environment["LOCAL_WORLD_SIZE"] = std::to_string(per_node);
    command.environment["GROUP_RANK"] = std::to_string(rank / per_node);
    if (ranks > 1) {
      command.environment["MASTER_ADDR"] = emulated ? TwoNodes::address(0) : "127.0.0.1";
      command.environment["MASTER_PORT"] = std::to_string(setting.port);
      if (rank == 0 && setting.listen_fd >= 0 && !emulated) {
        command.environment["MASTER_LISTEN_FD"] = std::to_string(setting.listen_fd);
        command.passed_fd = setting.listen_fd;
      }
    }
    command.cpus = cpus_of(row);
    command.output = setting.directory / fmt::format("rank-{}.stdout", rank);
    command.errors = setting.directory / fmt::format("rank-{}.stderr", rank);
    commands.push_back(std::move(command));
  }
  return commands;
}

fs::path remote_shell(const LaunchSetting& setting) { return setting.scratch / "node1.sh"; }
fs::path node_folder(const LaunchSetting& setting, int node) { return setting.scratch / TwoNodes::host(node); }

// OpenMPI's settings. pml ob1 with shared memory inside a node and TCP between nodes; on a cluster OpenMPI
// chooses by itself. Ranks are put on nodes in order, so that a ring crosses each link once in each direction.
Words mpirun_settings(const Row& row, const Request& request, const LaunchSetting& setting, bool emulated,
                      bool local) {
  Words words = {"--bind-to", "none", "--oversubscribe"};
  const auto set = [&](const char* name, const std::string& value) { append(words, {"--mca", name, value}); };
  if (::geteuid() == 0 || emulated) words.push_back("--allow-run-as-root");
  if (local || emulated) {
    set("ras", "^slurm");  // in an allocation it would look at that instead of --host
    set("plm", "rsh");
    set("pml", "ob1");
    set("btl", emulated ? "vader,tcp,self" : "vader,self");
    set("btl_vader_backing_directory", setting.scratch);
    set("oob_tcp_if_include", emulated ? TwoNodes::kNetwork : "lo");
    set("mpi_yield_when_idle", "1");  // ranks outnumber cores
  } else if (!request.interface.empty()) {
    set("oob_tcp_if_include", request.interface);
    set("btl_tcp_if_include", request.interface);
  }
  if (emulated) {
    set("plm_rsh_agent", remote_shell(setting));
    set("btl_tcp_if_include", TwoNodes::kNetwork);
    set("rtc_hwloc_vmhole", "none");  // two daemons on one kernel would share a segment and sometimes fail
  }
  // A ring: each rank's bytes on a link can be foretold, and they go both ways at once. Left to itself, libnbc sums
  // tensors in place on rank 0 and broadcasts from there, which takes twice as long.
  set("coll", "^hcoll,ucc");  // these bring algorithms of their own
  set("coll_libnbc_iallreduce_algorithm", "1");
  return words;
}

// Slurm's nodes have names of their own, which need not resolve; it knows their addresses.
std::string slurm_address(const std::string& node) {
  const std::string key = "NodeAddr=";
  const std::string text = run_to_end({{"scontrol", "show", "node", node, "--oneliner"}, {}, {}, {}, {}}).output;
  const size_t at = text.find(key);
  if (at == std::string::npos) return node;
  return text.substr(at + key.size(), text.find(' ', at) - at - key.size());
}

// The host of rank 0, where the others find the store of a backend without MPI's own wire-up.
std::string first_host(const Request& request) {
  std::string names = request.hosts;
  if (!request.hostfile.empty()) {
    std::ifstream file(request.hostfile);
    for (std::string line; names.empty() && std::getline(file, line);)
      if (line.find_first_not_of(" \t") != std::string::npos && line[line.find_first_not_of(" \t")] != '#')
        names = line.substr(line.find_first_not_of(" \t"));
  } else if (const char* nodes = std::getenv("SLURM_JOB_NODELIST"); names.empty() && nodes) {
    names = run_to_end({{"scontrol", "show", "hostnames", nodes}, {}, {}, {}, {}}).output;
    return slurm_address(names.substr(0, names.find('\n')));
  }
  return names.substr(0, names.find_first_of(":, \t\n"));
}

void add_master(Command& command, const Request& request, const LaunchSetting& setting) {
  command.environment["MASTER_ADDR"] = first_host(request);
  command.environment["MASTER_PORT"] = std::to_string(setting.port);
}

Words hosts_of(const Request& request) {
  if (!request.hostfile.empty()) return {"--hostfile", fs::absolute(request.hostfile)};
  return {"--host", request.hosts};
}

Command mpirun_command(const Row& row, const AxisValues& values, const Workshop& workshop, const Request& request,
                       const LaunchSetting& setting, bool emulated, bool local) {
  const int64_t ranks = world_size(row, values), per_node = ranks / row.nodes;
  Command command = one_for_all(row, setting);
  if (emulated) {
    command.arguments = setting.enter[0];
    append(command.arguments, {"setpriv", "--pdeathsig", "KILL"});  // gaining rights in the namespace unset it
  }
  append(command.arguments, {"mpirun", "-np", std::to_string(ranks), "--map-by", fmt::format("ppr:{}:node", per_node)});
  if (emulated)
    append(command.arguments, {"--host", fmt::format("{}:{},{}:{}", TwoNodes::host(0), per_node,
                                                     TwoNodes::host(1), per_node)});
  else if (local)
    append(command.arguments, {"--host", fmt::format("localhost:{}", per_node)});
  else
    append(command.arguments, hosts_of(request));
  append(command.arguments, mpirun_settings(row, request, setting, emulated, local));
  if (local || emulated) {
    command.environment["TMPDIR"] = node_folder(setting, 0);
    command.cpus = cpus_of(row);
  }
  if (!started_by_mpi(row, values) && ranks > 1) add_master(command, request, setting);
  for (const auto& [name, value] : command.environment)
    if (name != "TMPDIR") append(command.arguments, {"-x", name});
  append(command.arguments, train_slice(workshop, setting));
  return command;
}

Command srun_command(const Row& row, const AxisValues& values, const Workshop& workshop, const Request& request,
                     const LaunchSetting& setting) {
  const int64_t ranks = world_size(row, values), per_node = ranks / row.nodes;
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
  if (started_by_mpi(row, values)) command.arguments.push_back("--mpi=pmix");
  append(command.arguments, train_slice(workshop, setting));
  return command;
}

}  // namespace

std::string launcher_of(const Request& request) {
  if (request.launcher != "auto") return request.launcher;
  if (!request.hosts.empty() || !request.hostfile.empty()) return "mpirun";
  if (std::getenv("TORCHELASTIC_RUN_ID")) return "env";
  const char* nodes = std::getenv("SLURM_JOB_NUM_NODES");
  return nodes && std::atoi(nodes) > 1 ? "slurm" : "local";
}

int64_t world_size(const Row& row, const AxisValues& values) {
  return trait(values, "strategy", row.strategy, "process_per_device", false) ? row.nodes * row.devices
                                                                              : row.nodes;
}

bool emulates_nodes(const Row& row, const std::string& launcher) { return launcher == "local" && row.nodes > 1; }

Launch rank_commands(const Row& row, const AxisValues& values, const Workshop& workshop, const Request& request,
                     const LaunchSetting& setting) {
  const std::string launcher = launcher_of(request);
  const bool emulated = emulates_nodes(row, launcher);
  if (launcher == "slurm") return {launcher, {srun_command(row, values, workshop, request, setting)}, false};
  if (launcher == "env") {
    Command command = one_for_all(row, setting);
    command.arguments = train_slice(workshop, setting);
    command.environment["MASTER_PORT"] = std::to_string(setting.port);
    if (setting.listen_fd >= 0) {
      command.environment["MASTER_LISTEN_FD"] = std::to_string(setting.listen_fd);
      command.passed_fd = setting.listen_fd;
    }
    return {launcher, {command}, false};
  }
  if (launcher == "mpirun")
    return {launcher, {mpirun_command(row, values, workshop, request, setting, false, false)}, false};
  if (started_by_mpi(row, values))
    return {launcher, {mpirun_command(row, values, workshop, request, setting, emulated, !emulated)}, false};
  return {launcher, local_commands(row, values, workshop, setting, emulated), true};
}

Command on_every_node(const Request& request, int64_t nodes, const std::vector<std::string>& arguments) {
  Command command;
  const std::string launcher = launcher_of(request), count = std::to_string(nodes);
  if (launcher == "slurm") {
    command.arguments = {"srun", "--nodes=" + count, "--ntasks=" + count, "--ntasks-per-node=1", "--overlap"};
  } else if (launcher == "mpirun") {
    command.arguments = {"mpirun", "-np", count, "--map-by", "ppr:1:node", "--oversubscribe"};
    append(command.arguments, hosts_of(request));
    if (::geteuid() == 0) command.arguments.push_back("--allow-run-as-root");
  } else {
    return command;
  }
  append(command.arguments, arguments);
  return command;
}

void write_remote_shell(const LaunchSetting& setting) {
  for (int node : {0, 1}) fs::create_directories(node_folder(setting, node));
  const fs::path script = remote_shell(setting);
  std::ofstream(script) << "#!/bin/sh\n"
                        << "shift  # the host: there is only one other\n"
                        << "export TMPDIR=" << node_folder(setting, 1).string() << "\n"
                        << fmt::format("exec {} /bin/sh -c \"$*\"\n", fmt::join(setting.cross, " "));
  fs::permissions(script, fs::perms::owner_all);
}

}  // namespace harness
