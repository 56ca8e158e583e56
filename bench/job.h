// What the harness hands to train_slice: one JSON file for all ranks of a row.
#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "harness/row.h"

namespace bench {

struct Job {
  harness::Row row;
  std::filesystem::path index;                          // of the data set, made by `make_dataset index`
  std::filesystem::path validation;                     // index of the set's val/, for rows with `validation`
  std::map<std::string, std::filesystem::path> packed;  // storage -> where `make_dataset pack` put it
  std::filesystem::path progress;                       // harness/progress.h
  std::string interface;  // that carries the collectives between nodes; empty: found
  std::filesystem::path
      server_counter;          // /proc/<object store>/io, for storages that read from one; else empty
  bool emulated_link = false;  // the nodes are network namespaces on one machine
  int64_t trace_first = -1, trace_last = -1;  // timed batches to trace; -1: none
  std::filesystem::path directory;            // results go here: slice.json, and rank-N.error.json
};

// Throws std::runtime_error naming the file when it isn't a job.
Job read_job(const std::filesystem::path& file);

}  // namespace bench
