// Where a run finds its programs and files.
#pragma once
#include <filesystem>
#include <string>

namespace harness {

namespace fs = std::filesystem;

struct Installation {
  fs::path project;  // holds configs/, plots/, data/, results/
  // train_slice_cuda where it is built and a driver is there. RUN_MATRIX_WORKER in the environment names
  // another.
  fs::path train_slice;
  fs::path make_dataset;
  fs::path results;  // runs/, ab/, noise/; project/results unless RUN_MATRIX_RESULTS names another
  fs::path listen_address = {};  // listen_address.cpp, as a library to preload; empty: nothing is
};
Installation find_installation();

}  // namespace harness
