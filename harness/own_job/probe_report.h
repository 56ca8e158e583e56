// What the probe wrote in one start of a job: a file for each rank, others for the loader's workers.
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/contract/record_commands.h"

namespace harness {

// An iteration of the training loop, ms; phases are exclusive and add up to `wall`.
struct ProbeStep {
  double wall_ms = 0, load_ms = 0, h2d_ms = 0, forward_ms = 0, backward_ms = 0, sync_ms = 0, step_ms = 0,
         other_ms = 0;
  int64_t items = 0;
  std::optional<double> loss;
  KEYS(ProbeStep, REQUIRED(wall_ms, "all of it"), KEY(load_ms, "within next() of the training loaders"),
       KEY(h2d_ms, "copies to the device"), KEY(forward_ms, "from next() to backward"),
       KEY(backward_ms, "backward"), KEY(sync_ms, "collectives that the script calls"),
       KEY(step_ms, "optimizer"), KEY(other_ms, "the rest"), KEY(items, "of its batch"),
       KEY(loss, "where the script's backward starts from one number"));
};

// As a record names them.
inline constexpr std::pair<const char*, double ProbeStep::*> kProbePhases[] = {
    {"load", &ProbeStep::load_ms},         {"h2d", &ProbeStep::h2d_ms},   {"forward", &ProbeStep::forward_ms},
    {"backward", &ProbeStep::backward_ms}, {"sync", &ProbeStep::sync_ms}, {"step", &ProbeStep::step_ms},
    {"other", &ProbeStep::other_ms}};

// Iterations with one change made within the process.
struct ProbeSegment {
  int64_t index = 0, items = 0, updates = 0, settled = 0, excluded = 0;
  bool unfinished = false;
  std::vector<ProbeStep> steps;
  std::vector<size_t> left_out;
  KEYS(ProbeSegment, REQUIRED(index, "number in the plan"), KEY(items, "of its timed iterations"),
       KEY(updates, "steps of the optimizer"), KEY(settled, "untimed iterations before"),
       KEY(excluded, "left out among them"), KEY(unfinished, "the script ended within it"),
       KEY(left_out, "positions of those steps in which a validation of this rank lay"),
       REQUIRED(steps, "timed iterations"));
};

struct ProbeRank {
  int64_t rank = 0, world = 1, cores = 0, threads = 0, iterations = 0;
  std::string python, torch, device, error, end;  // end: done, exit or no steps; empty: killed
  std::optional<double> self_us;
  std::vector<JobLoader> loaders;
  std::vector<ProbeSegment> segments;
  std::map<std::string, std::string> impossible;  // change -> why
  std::vector<std::string> notes;
  std::string begun;  // the change of the last segment that began
  // What the lines of kind `start` and `end` tell; the other members have lines of their own.
  KEYS(ProbeRank, KEY(rank, "number of the process"), KEY(world, "processes"), KEY(cores, "that it may use"),
       KEY(threads, "of its arithmetic"), KEY(iterations, "that it made in all"), KEY(python, "version"),
       KEY(torch, "version"), KEY(device, "the GPU's name, or cpu; empty: unknown"),
       KEY(self_us, "of the probe, per iteration"), Key{"why", &ProbeRank::end, "it ended"});
};

struct ProbeReport {
  std::vector<ProbeRank> ranks;             // by rank; empty: no process trained
  std::map<std::string, double> worker_ms;  // mean for a batch: wall, cpu, run_queue, collate
  std::vector<std::string> files;           // that the loaders opened
  std::string why_not;                      // of steps told by lines: why there is no segment
};

// Lines that can't be understood are left out, with a warning on stderr.
ProbeReport read_probe(const std::filesystem::path& folder);

// The training loader of rank 0; null: the probe saw none.
const JobLoader* training_loader(const ProbeReport& report);

}  // namespace harness
