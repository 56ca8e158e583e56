// Where a run finds its programs and files, and what it was asked to do.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace harness {

namespace fs = std::filesystem;

struct Workshop {
  fs::path project;  // holds configs/, plots/, data/, results/
  // train_slice_cuda where it is built and a driver is there. RUN_MATRIX_WORKER in the environment names
  // another.
  fs::path train_slice;
  fs::path make_dataset;
  fs::path results;  // runs/, ab/, noise/; project/results unless RUN_MATRIX_RESULTS names another
  fs::path listen_address = {};  // listen_address.cpp, as a library to preload; empty: nothing is
};
Workshop find_workshop();

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
  std::string launcher = "auto";  // rank_commands.h says what each is
  std::string hosts;              // for mpirun: a:4,b:4
  fs::path hostfile;              // the same as a file
  int port = 0;                   // where rank 0 listens; 0: a free one
  std::string trace;              // timed batches: A-B, or "middle"; empty: no trace
  std::string wrap;               // what one rank runs under; empty: nothing
  int64_t wrap_rank = 0;
  std::string interface;  // network interface between nodes; empty: each rank finds it
};

}  // namespace harness
