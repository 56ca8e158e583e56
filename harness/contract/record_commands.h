// Parts of a record that only some commands write (--wrap, `ab`, `feed` and `explain`), and attempts of
// disturbed rows.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "harness/contract/codec.h"

namespace harness {

struct RecordWrap {
  std::string command;
  int64_t rank = 0;
  KEYS(RecordWrap, KEY(command, "command that the rank ran under; the times include its cost"),
       KEY(rank, "rank that ran under it"));
};

// Which side of an `ab` experiment the run belongs to.
struct RecordPair {
  std::string experiment, side;
  int64_t block = 0;
  bool first = false, until_verdict = false;
  KEYS(RecordPair, KEY(experiment, "name of the experiment, the same for both sides"), KEY(side, "A or B"),
       KEY(block, "number of the block; runs of a block are adjacent in time"),
       KEY(first, "whether this side ran first in its block"),
       WHEN_SET(
           until_verdict,
           "with `ab --until`: the results so far decided how many blocks ran, so that intervals are wider"));
};

// One attempt at a row's repeat; there are several if the first was disturbed.
struct RecordAttempt {
  int64_t number = 1, counts = 1;
  KEYS(RecordAttempt, REQUIRED(number, "number of this attempt, from 1"),
       REQUIRED(
           counts,
           "the attempt that counts of those until now: the least disturbed one, whatever its speed, or one "
           "that "
           "failed"));
};

// A row on an emulated device whose slice trained for real.
struct RecordTraining {
  std::string done_for;
  int64_t batches = 0;
  double first_loss = 0, last_loss = 0;
  std::string reason;
  KEYS(RecordTraining, WHEN_SET(done_for, "the row whose equal work was trained; absent: this row's own"),
       REQUIRED(batches, "batches that it trained"), KEY(first_loss, "mean loss of the first ten batches"),
       KEY(last_loss, "mean loss of the last ten batches"),
       WHEN_SET(reason, "why it did not train; absent if it did"));
};

// Which question of `run_matrix feed` the run answers.
struct RecordFeed {
  double devices = 0;
  int64_t asked = 0;
  std::string purpose;
  KEYS(
      RecordFeed,
      REQUIRED(devices,
               "the emulated device is so many times as fast as that of its file; 0: none, the loader alone"),
      REQUIRED(asked, "number of devices in question"),
      REQUIRED(
          purpose,
          "survey (how fast the loader is), asked (the asked number), confirm (the largest whole number that is fed and "
          "one more), or the one change made to find what binds: "
          "more_threads, fewer_threads, in_memory, no_decoding, made_up; unchanged: without one"));
};

// A price file (--prices): what more of a resource costs, all in one unit.
struct Prices {
  std::string unit;
  std::optional<double> core, gpu, gbit_per_s, mb_per_s, kwh, watts_per_gpu, watts_per_core;
  KEYS(Prices, REQUIRED(unit, "of all prices, e.g. EUR/month"), WHEN_SET(core, "one more processor core"),
       WHEN_SET(gpu, "one more device of the kind"),
       WHEN_SET(gbit_per_s, "1 Gbit/s more between nodes, per node"),
       WHEN_SET(mb_per_s, "1 MB/s more from storage"),
       Key{"kWh", &Self::kwh, "one kWh, in the unit without its time, e.g. EUR", Presence::when_set},
       WHEN_SET(watts_per_gpu, "stated power of one device, for energy that wasn't measured; no price"),
       WHEN_SET(watts_per_core, "the same of one processor core"));
};

// What a run of `run_matrix explain` changes in the explained row.
struct RecordIntervention {
  std::string of, change;
  int64_t block = 0;
  double added_ms = 0;
  std::optional<Prices> prices;
  KEYS(RecordIntervention, REQUIRED(of, "id of the explained row"),
       REQUIRED(
           change,
           "the one change, e.g. no_decoding or faster_link; `unchanged`: none. docs/explain.md lists all"),
       REQUIRED(block, "number of the block; every change runs once in each, in random order"),
       KEY(added_ms, "time per batch that was added on purpose; 0: none"),
       WHEN_SET(prices, "only with --prices"));
};

// A loader of a user's own training job.
struct JobLoader {
  std::string name, role, dataset, shapes;
  int64_t workers = 0, batch = 0, bytes = 0;
  std::optional<int64_t> prefetch_factor, length;
  std::optional<bool> pin_memory, persistent_workers;
  KEYS(JobLoader, REQUIRED(name, "`loader 0`, in the order of their first batches"),
       KEY(role, "training: a backward pass follows its batches; else validation"),
       KEY(workers, "num_workers, as it ran"),
       WHEN_SET(prefetch_factor, "batches that each worker prepares ahead"),
       KEY(batch, "items of its first batch"), KEY(bytes, "of the tensors of its first batch"),
       KEY(shapes, "of these tensors"), KEY(dataset, "class of its data set"),
       WHEN_SET(length, "batches of an epoch, where it is known"),
       WHEN_SET(pin_memory, "as the script sets it"), WHEN_SET(persistent_workers, "as the script sets it"));
};

// A user's own training job, as the probe in its processes saw it (bench/probe).
struct RecordJob {
  std::vector<std::string> command;
  std::string process;
  std::vector<JobLoader> loaders;
  int64_t updates = 0, settled = 0, excluded = 0;
  std::optional<double> probe_us;
  std::map<std::string, double> worker_ms;
  std::vector<double> rank_step_ms;
  KEYS(
      RecordJob, REQUIRED(command, "its arguments, the program first"),
      KEY(process, "what was changed when it started, as JSON; empty: nothing"),
      KEY(loaders, "its DataLoaders"), KEY(updates, "steps of the optimizer during the timed iterations"),
      KEY(settled, "iterations left out before them, after a change in the process"),
      KEY(excluded,
          "iterations left out among them, because a validation or the start of an epoch lay in them"),
      WHEN_SET(probe_us, "time of the probe in an iteration's main thread, us"),
      WHEN_SET(worker_ms,
               "of the workers, mean for a batch: `wall`, `cpu`, `run_queue` (ready, but without a core) and "
               "`collate`"),
      WHEN_SET(rank_step_ms,
               "mean iteration of each rank without backward, in which ranks wait for each other"));
};

}  // namespace harness
