// The harness's input to train_slice: one JSON file for all ranks of a row.
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/contract/codec.h"
#include "harness/contract/emulated_device.h"
#include "harness/contract/row.h"

namespace harness {

struct TracedBatches {
  int64_t first = 0, last = 0;
  KEYS(TracedBatches, REQUIRED(first, "first traced batch, timed ones counted from 0"),
       REQUIRED(last, "last traced batch"));
};

struct Job {
  Row row;
  std::string index, validation;
  std::map<std::string, std::string> packed;
  std::vector<std::string> loader_command;
  double loader_start_s = 0, loader_silence_s = 0;
  std::string progress, directory, interface, server_counter;
  bool emulated_link = false;
  std::optional<TracedBatches> trace;
  std::optional<Emulation> emulation;
  std::optional<int64_t> cores, memory_cap_bytes;

  KEYS(Job, REQUIRED(row, "every field of the row, resolved"),
       REQUIRED(directory, "folder for slice.jsonl and rank-N.error.json"),
       KEY(progress, "progress file (harness/contract/progress.h); empty for a probe"),
       KEY(index, "index of the data set, made by `make_dataset index`; empty for a probe"),
       WHEN_SET(validation, "index of the set's val/, for rows with `validation`"),
       WHEN_SET(packed, "storage -> location of the copy that `make_dataset pack` made"),
       WHEN_SET(loader_command, "starts the row's external loader"),
       KEY(loader_start_s, "longest wait for the first batch of an external loader"),
       KEY(loader_silence_s, "longest wait for each of its other batches"),
       WHEN_SET(interface, "network interface between nodes; empty: each rank chooses one"),
       WHEN_SET(server_counter, "/proc/PID/io of the object store, for storages that read from one"),
       KEY(emulated_link, "the nodes are network namespaces of one machine"),
       WHEN_SET(trace, "the batches to trace"), WHEN_SET(emulation, "of rows on device emulated"),
       WHEN_SET(
           cores,
           "of rows on GPUs: how many of the cores that they may use all ranks of the machine take together; "
           "absent: all that are beside their GPUs"),
       WHEN_SET(memory_cap_bytes, "of --probe-memory on the processor: what the process may take"));
};

// The answer of `train_slice --probe-memory`.
struct MemoryProbe {
  int64_t images = 0;
  bool fits = false;
  KEYS(MemoryProbe, KEY(images, "of one device"),
       REQUIRED(fits, "its memory held what training on them takes"));
};

// Throws std::runtime_error with the file and the wrong key.
Job read_job(const std::filesystem::path& file);
void write_job(const std::filesystem::path& file, const Job& job);

}  // namespace harness
