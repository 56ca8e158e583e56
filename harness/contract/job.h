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
  static constexpr auto keys() {
    return known_keys(
        Required{"first", &TracedBatches::first, "first traced batch, timed ones counted from 0"},
        Required{"last", &TracedBatches::last, "last traced batch"});
  }
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

  static constexpr auto keys() {
    return known_keys(
        Required{"row", &Job::row, "every field of the row, resolved"},
        Required{"directory", &Job::directory, "folder for slice.jsonl and rank-N.error.json"},
        Key{"progress", &Job::progress, "progress file (harness/contract/progress.h); empty for a probe"},
        Key{"index", &Job::index, "index of the data set, made by `make_dataset index`; empty for a probe"},
        WhenSet{"validation", &Job::validation, "index of the set's val/, for rows with `validation`"},
        WhenSet{"packed", &Job::packed, "storage -> location of the copy that `make_dataset pack` made"},
        WhenSet{"loader_command", &Job::loader_command, "starts the row's external loader"},
        Key{"loader_start_s", &Job::loader_start_s, "longest wait for the first batch of an external loader"},
        Key{"loader_silence_s", &Job::loader_silence_s, "longest wait for each of its other batches"},
        WhenSet{"interface", &Job::interface,
                "network interface between nodes; empty: each rank chooses one"},
        WhenSet{"server_counter", &Job::server_counter,
                "/proc/PID/io of the object store, for storages that read from one"},
        Key{"emulated_link", &Job::emulated_link, "the nodes are network namespaces of one machine"},
        WhenSet{"trace", &Job::trace, "the batches to trace"},
        WhenSet{"emulation", &Job::emulation, "of rows on device emulated"},
        WhenSet{
            "cores", &Job::cores,
            "of rows on GPUs: how many of the cores that they may use all ranks of the machine take together; "
            "absent: all that are beside their GPUs"},
        WhenSet{"memory_cap_bytes", &Job::memory_cap_bytes,
                "of --probe-memory on the processor: what the process may take"});
  }
};

// The answer of `train_slice --probe-memory`.
struct MemoryProbe {
  int64_t images = 0;
  bool fits = false;
  static constexpr auto keys() {
    return known_keys(Key{"images", &MemoryProbe::images, "of one device"},
                      Required{"fits", &MemoryProbe::fits, "its memory held what training on them takes"});
  }
};

// Throws std::runtime_error with the file and the wrong key.
Job read_job(const std::filesystem::path& file);
void write_job(const std::filesystem::path& file, const Job& job);

}  // namespace harness
