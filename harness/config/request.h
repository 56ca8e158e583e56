// The options of the command line that define a run, and RUN/request.json, for continuing it with the same
// ones.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/contract/record_parts.h"
#include "harness/contract/row.h"

namespace harness {

namespace fs = std::filesystem;

// For the codec: a path is its absolute text, which is empty for an empty path.
nlohmann::json written_path(const void* path);
void read_path(void* path, const nlohmann::json& value);
template <>
struct TypeOf<fs::path> {
  static constexpr ValueType value = own_type<fs::path>(written_path, read_path);
};

inline constexpr double kUsualTimeout_s = 1800;

struct Request {
  std::vector<fs::path> configs;
  std::string only, scale = "auto", device = "auto";
  int64_t devices = 0;  // 0: as in the rows
  fs::path data, out;   // empty: stand-in images, and results/runs/<time>-<host>
  int64_t seed = 1;
  int64_t repeats = 0;  // 0: one, or three for rows with `validation`
  std::vector<std::string> set;
  double timeout_s = 0;  // per row; 0: none
  double silence_s = 0;  // longest time without a finished batch, also before the first; 0: see launcher.h
  double budget_s = 0;   // for all rows together; 0: none
  // Time from the run's start in which rows may run again; below 0: not given, see repeat_limit_s().
  double repeat_within_s = -1;
  bool choose_time_scales = false;  // of rows on emulated devices; only runs of a matrix do
  bool keep_disturbed = false;      // don't run rows again that others disturbed
  bool dry_run = false;
  fs::path machine;               // dry_run: a description of the machine to plan for; empty: this one
  bool oversubscribe = false;     // ranks may share a GPU
  bool accuracy = false;          // also run configs/accuracy.yaml
  bool skip_unreadable = false;   // leave out images in unsupported formats instead of refusing the data
  std::string labels_from;        // number of the first class in files of --data: 0, 1 or not given
  std::string launcher = "auto";  // see launcher_of()
  std::string hosts;              // for mpirun: a:4,b:4
  fs::path hostfile;              // the same in a file
  int port = 0;                   // port of rank 0; 0: a free one
  std::string trace;              // timed batches: A-B, or "middle"; empty: no trace
  std::string wrap;               // command that one rank runs under; empty: none
  int64_t wrap_rank = 0;
  std::string interface;             // network interface between nodes; empty: each rank chooses one
  fs::path junit, prometheus, otlp;  // files for programs that watch the run (outputs/outputs.h); empty: none
  bool github = false;               // annotations and summary for a step of GitHub Actions

  // Every option that a continued run takes over, by its name on the command line.
  KEYS(Request, Key{"config", &Self::configs, "the matrices", Presence::required}, REQUIRED(only, "rows"),
       REQUIRED(scale, "name of a scale, or auto"), REQUIRED(device, "cpu, cuda, emulated[:NAME] or auto"),
       REQUIRED(devices, "a number"), REQUIRED(data, "folder of images"), REQUIRED(seed, "a number"),
       Key{"repeat", &Self::repeats, "a number", Presence::required},
       REQUIRED(set, "field=value of all rows"),
       Key{"timeout", &Self::timeout_s, "seconds", Presence::required},
       Key{"hang-after", &Self::silence_s, "seconds", Presence::required},
       REQUIRED(oversubscribe, "true or false"), REQUIRED(launcher, "as launcher_of() has it, or auto"),
       REQUIRED(hosts, "for mpirun"), REQUIRED(hostfile, "for mpirun"), REQUIRED(port, "a number"),
       REQUIRED(trace, "batches"), REQUIRED(wrap, "a command"),
       Key{"wrap-rank", &Self::wrap_rank, "a number", Presence::required},
       REQUIRED(interface, "between nodes"),
       Key{"skip-unreadable", &Self::skip_unreadable, "true or false"},  // these came later
       Key{"labels-from", &Self::labels_from, "0 or 1"},
       Key{"repeat-within", &Self::repeat_within_s, "seconds"},
       Key{"keep-disturbed", &Self::keep_disturbed, "true or false"}, WHEN_SET(junit, "file"),
       WHEN_SET(prometheus, "file"), WHEN_SET(otlp, "file"), WHEN_SET(github, "true or false"));
};

// The program that starts ranks: `local` (this process; for backend mpi mpirun on this machine), `mpirun` (on
// --hosts or --hostfile), `slurm` (srun in the current allocation) or `env` (torchrun or another program that
// sets RANK etc. and starts one run_matrix per rank). "auto" chooses by the request and the environment.
std::string launcher_of(const Request& request);

// Whether this machine emulates the row's nodes.
bool emulates_nodes(const Row& row, const std::string& launcher);

// Whether --set names the field.
bool sets(const Request& request, const std::string& field);

// Whether a run of the whole matrix was asked for as it is, without options that change what or how often
// rows run.
bool is_plain(const Request& request);

// Time from the run's start in which disturbed rows run again: --repeat-within (default 15 minutes), but at
// most --budget.
double repeat_limit_s(const Request& request);

// Number of runs of a row.
int64_t repeats_of(const Row& row, const Request& request);

// Whether the folder holds a run: not if it ended, as by a kill, before its request was written. Then the
// same command can be given again.
bool holds_run(const fs::path& folder);

// Paths become absolute.
void write_request(const fs::path& run, const Request& request);

// The request for continuing the run in folder `run`. `asked`: request of this command line; `given`: names
// of its options. More repeats and other limits (timeout, hang-after, port) are allowed; throws
// PreparationError for any other option that differs from the run's, and without a run's request.json there.
Request continued_request(const fs::path& run, const Request& asked, const std::set<std::string>& given);

// A shell line that starts `program` with the options of `request`: an object of options by their name on the
// command line, as in RUN/request.json. Options with their default are left out (except seed and
// timeout), and so is `out`, because a run's folder takes no second run. Paths inside `project` become
// relative to it, so the line is meant for that folder.
std::string run_command(const std::string& program, const nlohmann::json& request,
                        const std::filesystem::path& project);

}  // namespace harness
