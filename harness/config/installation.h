// Paths of the programs and files of a run.
#pragma once
#include <filesystem>
#include <string>

namespace harness {

namespace fs = std::filesystem;

struct Installation {
  // Contains configs/ and plots/, and needn't be writable: RUN_MATRIX_HOME, or the nearest such folder above
  // the programs.
  fs::path project;
  // train_slice_cuda when it is built and a driver is installed, otherwise train_slice. The environment
  // variable RUN_MATRIX_WORKER replaces it.
  fs::path train_slice;
  fs::path make_dataset;
  fs::path results;              // runs/, ab/; project/results, or RUN_MATRIX_RESULTS
  fs::path listen_address = {};  // library to preload (listen_address.cpp); empty: none
  fs::path data = {};            // stand-in images, packed/; project/data, or RUN_MATRIX_DATA
  fs::path list_opens = {};      // library to preload (list_opens.c); empty: none
  fs::path python = {};  // with torch, for rows of another engine: PYTHON, project/.venv's, or python3

  fs::path noise() const { return results / "noise"; }  // A/A experiments of the machines that wrote here
};
// Throws ConfigError when the project isn't found.
Installation find_installation();

}  // namespace harness
