// What a run was asked to do: the options of the command line.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "harness/contract/row.h"

namespace harness {

namespace fs = std::filesystem;

struct Request {
  std::vector<fs::path> configs;
  std::string only, scale = "auto", device = "auto";
  int64_t devices = 0;  // 0: as the rows say
  fs::path data, out;   // empty: stand-in images; results/runs/<time>-<host>
  int64_t seed = 1;
  int64_t repeats = 0;  // 0: one, and three of a row with `validation`
  std::vector<std::string> set;
  double timeout_s = 0;  // per row; 0: from the scale
  double silence_s = 0;  // without a finished batch; 0: as launcher.h has it, also for reaching the first one
  double budget_s = 0;   // for the rows together; 0: none
  bool dry_run = false, slow = false;
  bool oversubscribe = false;    // ranks may share a GPU
  bool accuracy = false;         // configs/accuracy.yaml too
  bool skip_unreadable = false;  // images in formats that aren't decoded here are left out instead of refused
  std::string launcher = "auto";  // see launcher_of()
  std::string hosts;              // for mpirun: a:4,b:4
  fs::path hostfile;              // the same as a file
  int port = 0;                   // where rank 0 listens; 0: a free one
  std::string trace;              // timed batches: A-B, or "middle"; empty: no trace
  std::string wrap;               // what one rank runs under; empty: nothing
  int64_t wrap_rank = 0;
  std::string interface;  // network interface between nodes; empty: each rank finds it
};

// What starts ranks: `local` (this process; for rows over MPI mpirun on this machine), `mpirun` (on --hosts or
// --hostfile), `slurm` (srun in the allocation that this process runs in), `env` (torchrun or any other that
// sets RANK and so on: one run_matrix for each rank). "auto" asks the request and the environment.
std::string launcher_of(const Request& request);

// Two nodes on this machine alone stand in for the row's.
bool emulates_nodes(const Row& row, const std::string& launcher);

// How often a request runs a row.
int64_t repeats_of(const Row& row, const Request& request);

}  // namespace harness
