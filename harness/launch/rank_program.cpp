// Sets allocator, threads, cores and MPI's settings, and puts the wrapping command before the program.
#include "harness/launch/rank_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "harness/base/json_text.h"
#include "harness/base/process_limits.h"
#include "harness/contract/loader_command.h"

namespace harness {

namespace {

struct Allocator {
  const char *name, *library, *package;
};
constexpr std::array<Allocator, 2> kAllocators = {
    {{"jemalloc", "libjemalloc.so.2", "libjemalloc2"},
     {"tcmalloc", "libtcmalloc_minimal.so.4", "libtcmalloc-minimal4 (libtcmalloc-minimal4t64)"}}};

const Allocator* find(const std::string& name) {
  for (const Allocator& one : kAllocators)
    if (name == one.name) return &one;
  return nullptr;
}

}  // namespace

std::string why_no_allocator(const Row& row) {
  const Allocator* allocator = find(row.malloc);
  if (!allocator) return "";
  base::Command loads_it{{"true"}, {}, {}, {}, {}};
  base::preload(loads_it, allocator->library);
  loads_it.errors_to_output = true;
  // The loader only warns about a library that it doesn't find.
  if (base::run_to_end(loads_it).output.find(allocator->library) == std::string::npos) return "";
  return fmt::format("library {} was not found: install package {}", allocator->library, allocator->package);
}

void append(Words& words, const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

void listen_on(base::Command& command, const std::string& address, const Installation& installation) {
  if (installation.listen_address.empty()) return;
  base::preload(command, installation.listen_address);
  command.environment["LISTEN_ADDRESS"] = address;
}

// `retain` keeps freed memory instead of returning it to the kernel and faulting it in again: glibc's default
// costs up to a third of a CPU step.
void prepare_rank(base::Command& command, const Row& row) {
  auto& environment = command.environment;
  if (row.malloc == "retain")
    environment = {
        {"MALLOC_ARENA_MAX", "1"}, {"MALLOC_TRIM_THRESHOLD_", "4294967296"}, {"MALLOC_MMAP_MAX_", "0"}};
  environment["OMP_NUM_THREADS"] = std::to_string(row.intra_op_threads);
  if (!row.jpeg_simd) environment["JSIMD_FORCENONE"] = "1";  // libjpeg-turbo reads it
  if (const Allocator* allocator = find(row.malloc)) base::preload(command, allocator->library);
}

std::vector<int> rank_cpus(const Row& row) {
  std::vector<int> cpus = base::available_cpus();
  if (row.device == "cuda") return cpus;  // each rank takes those beside its GPUs (Job::cores)
  const size_t usable = std::min(cpus.size(), size_t(base::process_limits().cores));
  cpus.resize(emulates_cores(row) ? usable : std::min(usable, size_t(row.cpus)));
  return cpus;
}

static Words twin(const Installation& installation) {
  return {installation.python, installation.project / "bench/twin/twin.py"};
}

Words rank_program(const Row& row, const Installation& installation, const LaunchSetting& setting) {
  if (!setting.program.empty()) return setting.program;
  Words words = row.engine == "libtorch" ? Words{installation.train_slice} : twin(installation);
  append(words, {"--job", setting.directory / "job.json"});
  return words;
}

static std::string ask_twin(const Row& row) try {
  base::Command command;
  command.arguments = twin(find_installation());
  append(command.arguments, {"--why-not", row.engine, row.device});
  const base::Finished finished = base::run_to_end(command);
  if (finished.exit_code == 0) return finished.output.substr(0, finished.output.find('\n'));
  throw std::runtime_error(command.arguments[0] + " " + base::ended_in_words(finished.exit_code));
} catch (const std::runtime_error& error) {
  return fmt::format("engine {}: {}; name a Python with torch in PYTHON", row.engine, error.what());
}

std::string why_no_engine(const Row& row) {
  static std::map<std::pair<std::string, std::string>, std::string> answers;
  if (row.engine == "libtorch") return "";
  const auto [answer, asked_first] = answers.try_emplace({row.engine, row.device});
  if (asked_first) answer->second = ask_twin(row);
  return answer->second;
}

Words loader_program(const Row& row, const Installation& installation) {
  Words words = words_of_command(row.command);
  const size_t adapter = adapter_of(words);
  if (words[0] == "python") words[0] = installation.python;
  fs::path file = fs::absolute(words[adapter]);
  if (!fs::exists(file)) file = installation.project / words[adapter];
  words[adapter] = file;
  words.insert(words.begin() + std::ptrdiff_t(adapter),
               installation.project / "bench/loading/external/ring.py");
  return words;
}

static std::string ask_loader(const Row& row) try {
  base::Command command;
  command.arguments = loader_program(row, find_installation());
  const auto adapter =
      command.arguments.begin() + std::ptrdiff_t(adapter_of(words_of_command(row.command))) + 1;
  if (!fs::is_regular_file(*adapter))
    return fmt::format("{} doesn't exist; next: name the adapter by its full path", *adapter);
  command.arguments.insert(adapter, "--why-not");
  const base::Finished finished = base::run_to_end(command);
  if (const auto why = base::parse_json(finished.output); finished.exit_code == 0 && why.is_string())
    return why.get<std::string>();
  throw std::runtime_error(fmt::format("{} {} and is no Python that runs ring.py", command.arguments[0],
                                       base::ended_in_words(finished.exit_code)));
} catch (const std::runtime_error& error) {
  return fmt::format("command `{}`: {}; next: name a Python in the command, or in PYTHON", row.command,
                     error.what());
}

std::string why_no_loader(const Row& row) {
  static std::map<std::string, std::string> answers;
  if (!has_external_loader(row)) return "";
  const auto [answer, asked_first] = answers.try_emplace(row.command);
  if (asked_first) answer->second = ask_loader(row);
  return answer->second;
}

base::Command one_for_all(const Row& row, const LaunchSetting& setting) {
  base::Command command;
  prepare_rank(command, row);
  command.environment["RANK_LOGS"] = setting.directory;  // each rank opens its log files there
  command.output = setting.directory / "launcher.stdout";
  command.errors = setting.directory / "launcher.stderr";
  return command;
}

void leave_out_other_ranks(base::Command& command) {
  command.without = {"RANK",       "WORLD_SIZE",   "LOCAL_RANK",   "LOCAL_WORLD_SIZE",
                     "GROUP_RANK", "SLURM_PROCID", "SLURM_NODEID", "SLURM_LOCALID"};
}

// OpenMPI reads its settings from the environment as well as from mpirun's command line.
std::map<std::string, std::string> mpi_environment(const Request& request) {
  std::map<std::string, std::string> environment = {
      // A ring: the bytes on each link can be computed, and go in both directions at once. libnbc's default
      // sums in-place tensors on rank 0 and broadcasts the result, which takes twice as long.
      {"OMPI_MCA_coll_libnbc_iallreduce_algorithm", "1"},
      {"OMPI_MCA_coll", "^hcoll,ucc"},  // exclude components with other algorithms
  };
  if (!request.interface.empty())
    for (const char* layer : {"oob", "btl"})
      environment[std::string("OMPI_MCA_") + layer + "_tcp_if_include"] = request.interface;
  return environment;
}

// The address of a Slurm node; node names need not resolve.
static std::string slurm_address(const std::string& node) {
  const std::string key = "NodeAddr=";
  const std::string text =
      base::run_to_end({{"scontrol", "show", "node", node, "--oneliner"}, {}, {}, {}, {}}).output;
  const size_t at = text.find(key);
  if (at == std::string::npos) return node;
  return text.substr(at + key.size(), text.find(' ', at) - at - key.size());
}

// The host of a hostfile's line, such as `user@node1 slots=4  # comment`; empty for a line without one.
static std::string host_of(const std::string& line) {
  std::string host;
  std::istringstream(line.substr(0, line.find('#'))) >> host;
  return host.substr(host.find('@') + 1);
}

// The host of rank 0, where its TCP store listens.
static std::string first_host(const Request& request) {
  std::string names = request.hosts;
  if (!request.hostfile.empty()) {
    std::ifstream file(request.hostfile);
    for (std::string line; names.empty() && std::getline(file, line);) names = host_of(line);
  } else if (const char* nodes = std::getenv("SLURM_JOB_NODELIST"); names.empty() && nodes) {
    names = base::run_to_end({{"scontrol", "show", "hostnames", nodes}, {}, {}, {}, {}}).output;
    return slurm_address(names.substr(0, names.find('\n')));
  }
  if (names.empty()) return "localhost";
  return names.substr(0, names.find_first_of(":,"));
}

void add_master(base::Command& command, const Request& request, const LaunchSetting& setting) {
  command.environment["MASTER_ADDR"] = first_host(request);
  command.environment["MASTER_PORT"] = std::to_string(setting.port);
}

// Runs the wrapping command through a shell, which parses its quotes; in the row's folder, so that its output
// files are there; and without the terminal as stdin, which would stop a debugger in the background.
static Words wrapped(const std::string& condition, const Words& program, const Request& request,
                     const fs::path& directory) {
  Words words = {"sh", "-c", condition + "cd \"$0\" && exec " + request.wrap + " \"$@\" </dev/null",
                 directory};
  append(words, program);
  return words;
}

void wrap_rank(base::Command& command, int64_t rank, const Words& program, const Request& request,
               const fs::path& directory) {
  const bool named = !request.wrap.empty() && rank == request.wrap_rank;
  if (named)
    command.environment["RUN_MATRIX_WRAPPED"] = "1";  // tells the rank to end with the wrapping program
  append(command.arguments, named ? wrapped("", program, request, directory) : program);
}

Words wrapped_where(const std::string& variable, const Words& program, const Request& request,
                    const fs::path& directory) {
  if (request.wrap.empty()) return program;
  return wrapped(fmt::format("[ \"${}\" = {} ] || exec \"$@\"; ", variable, request.wrap_rank), program,
                 request, directory);
}

}  // namespace harness
