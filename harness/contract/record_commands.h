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
  static constexpr auto keys() {
    return known_keys(
        Key{"command", &RecordWrap::command, "command that the rank ran under; the times include its cost"},
        Key{"rank", &RecordWrap::rank, "rank that ran under it"});
  }
};

// Which side of an `ab` experiment the run belongs to.
struct RecordPair {
  std::string experiment, side;
  int64_t block = 0;
  bool first = false, until_verdict = false;
  static constexpr auto keys() {
    return known_keys(
        Key{"experiment", &RecordPair::experiment, "name of the experiment, the same for both sides"},
        Key{"side", &RecordPair::side, "A or B"},
        Key{"block", &RecordPair::block, "number of the block; runs of a block are adjacent in time"},
        Key{"first", &RecordPair::first, "whether this side ran first in its block"},
        WhenSet{
            "until_verdict", &RecordPair::until_verdict,
            "with `ab --until`: the results so far decided how many blocks ran, so that intervals are wider"});
  }
};

// One attempt at a row's repeat; there are several if the first was disturbed.
struct RecordAttempt {
  int64_t number = 1, counts = 1;
  static constexpr auto keys() {
    return known_keys(
        Required{"number", &RecordAttempt::number, "number of this attempt, from 1"},
        Required{
            "counts", &RecordAttempt::counts,
            "the attempt that counts of those until now: the least disturbed one, whatever its speed, or one "
            "that "
            "failed"});
  }
};

// A row on an emulated device whose slice trained for real.
struct RecordTraining {
  std::string done_for;
  int64_t batches = 0;
  double first_loss = 0, last_loss = 0;
  std::string reason;
  static constexpr auto keys() {
    return known_keys(WhenSet{"done_for", &RecordTraining::done_for,
                              "the row whose equal work was trained; absent: this row's own"},
                      Required{"batches", &RecordTraining::batches, "batches that it trained"},
                      Key{"first_loss", &RecordTraining::first_loss, "mean loss of the first ten batches"},
                      Key{"last_loss", &RecordTraining::last_loss, "mean loss of the last ten batches"},
                      WhenSet{"reason", &RecordTraining::reason, "why it did not train; absent if it did"});
  }
};

// Which question of `run_matrix feed` the run answers.
struct RecordFeed {
  double devices = 0;
  int64_t asked = 0;
  std::string purpose;
  static constexpr auto keys() {
    return known_keys(
        Required{
            "devices", &RecordFeed::devices,
            "the emulated device is so many times as fast as that of its file; 0: none, the loader alone"},
        Required{"asked", &RecordFeed::asked, "number of devices in question"},
        Required{
            "purpose", &RecordFeed::purpose,
            "survey (how fast the loader is), asked (the asked number), confirm (the largest whole number that is fed and "
            "one more), or the one change made to find what binds: "
            "more_threads, fewer_threads, in_memory, no_decoding, made_up; unchanged: without one"});
  }
};

// A price file (--prices): what more of a resource costs, all in one unit.
struct Prices {
  std::string unit;
  std::optional<double> core, gpu, gbit_per_s, mb_per_s, kwh, watts_per_gpu, watts_per_core;
  static constexpr auto keys() {
    return known_keys(Required{"unit", &Prices::unit, "of all prices, e.g. EUR/month"},
                      WhenSet{"core", &Prices::core, "one more processor core"},
                      WhenSet{"gpu", &Prices::gpu, "one more device of the kind"},
                      WhenSet{"gbit_per_s", &Prices::gbit_per_s, "1 Gbit/s more between nodes, per node"},
                      WhenSet{"mb_per_s", &Prices::mb_per_s, "1 MB/s more from storage"},
                      WhenSet{"kWh", &Prices::kwh, "one kWh, in the unit without its time, e.g. EUR"},
                      WhenSet{"watts_per_gpu", &Prices::watts_per_gpu,
                              "stated power of one device, for energy that wasn't measured; no price"},
                      WhenSet{"watts_per_core", &Prices::watts_per_core, "the same of one processor core"});
  }
};

// What a run of `run_matrix explain` changes in the explained row.
struct RecordIntervention {
  std::string of, change;
  int64_t block = 0;
  double added_ms = 0;
  std::optional<Prices> prices;
  static constexpr auto keys() {
    return known_keys(
        Required{"of", &RecordIntervention::of, "id of the explained row"},
        Required{
            "change", &RecordIntervention::change,
            "the one change, e.g. no_decoding or faster_link; `unchanged`: none. docs/explain.md lists all"},
        Required{"block", &RecordIntervention::block,
                 "number of the block; every change runs once in each, in random order"},
        Key{"added_ms", &RecordIntervention::added_ms, "time per batch that was added on purpose; 0: none"},
        WhenSet{"prices", &RecordIntervention::prices, "only with --prices"});
  }
};

// A loader of a user's own training job.
struct JobLoader {
  std::string name, role, dataset, shapes;
  int64_t workers = 0, batch = 0, bytes = 0;
  std::optional<int64_t> prefetch_factor, length;
  std::optional<bool> pin_memory, persistent_workers;
  static constexpr auto keys() {
    return known_keys(
        Required{"name", &JobLoader::name, "`loader 0`, in the order of their first batches"},
        Key{"role", &JobLoader::role, "training: a backward pass follows its batches; else validation"},
        Key{"workers", &JobLoader::workers, "num_workers, as it ran"},
        WhenSet{"prefetch_factor", &JobLoader::prefetch_factor, "batches that each worker prepares ahead"},
        Key{"batch", &JobLoader::batch, "items of its first batch"},
        Key{"bytes", &JobLoader::bytes, "of the tensors of its first batch"},
        Key{"shapes", &JobLoader::shapes, "of these tensors"},
        Key{"dataset", &JobLoader::dataset, "class of its data set"},
        WhenSet{"length", &JobLoader::length, "batches of an epoch, where it is known"},
        WhenSet{"pin_memory", &JobLoader::pin_memory, "as the script sets it"},
        WhenSet{"persistent_workers", &JobLoader::persistent_workers, "as the script sets it"});
  }
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
  static constexpr auto keys() {
    return known_keys(
        Required{"command", &RecordJob::command, "its arguments, the program first"},
        Key{"process", &RecordJob::process, "what was changed when it started, as JSON; empty: nothing"},
        Key{"loaders", &RecordJob::loaders, "its DataLoaders"},
        Key{"updates", &RecordJob::updates, "steps of the optimizer during the timed iterations"},
        Key{"settled", &RecordJob::settled, "iterations left out before them, after a change in the process"},
        Key{"excluded", &RecordJob::excluded,
            "iterations left out among them, because a validation or the start of an epoch lay in them"},
        WhenSet{"probe_us", &RecordJob::probe_us, "time of the probe in an iteration's main thread, us"},
        WhenSet{
            "worker_ms", &RecordJob::worker_ms,
            "of the workers, mean for a batch: `wall`, `cpu`, `run_queue` (ready, but without a core) and "
            "`collate`"},
        WhenSet{"rank_step_ms", &RecordJob::rank_step_ms,
                "mean iteration of each rank without backward, in which ranks wait for each other"});
  }
};

}  // namespace harness
