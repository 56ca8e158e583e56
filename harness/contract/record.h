// A record: the result of one run of one row, a line of records.jsonl. The help texts are the key table in
// results/README.md; bench/README.md defines what each time includes.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/contract/emulated_device.h"
#include "harness/contract/record_extras.h"
#include "harness/contract/record_parts.h"
#include "harness/contract/row.h"

namespace harness {

using Samples = std::map<std::string, std::vector<std::vector<double>>>;  // name -> [rank][batch], ms

struct Record {
  int64_t schema = 1, repeat = 0;
  std::string row, status, reason, set, started_at, launcher, config_hash;
  Row config;
  RecordScale scale;
  RecordDevice device;
  RecordPrecision precision;
  RecordMachine machine;
  RecordBuild build;
  RecordData data;
  std::vector<RankPlace> rank_map;
  int64_t world_size = 1;
  RecordWindow window;
  std::optional<int64_t> warmup_batches, timed_batches, bad_images, max_rss_bytes;
  std::optional<double> total_s, images_per_second, wall_s, top1, top5;
  Samples samples_ms, warmup_ms, spans_ms, device_ms;
  std::vector<double> loss;
  std::optional<RecordCommunication> communication;
  std::optional<RecordCeilings> ceilings;
  std::optional<RecordTimeline> timeline;
  std::optional<RecordAccuracy> accuracy;
  std::optional<RecordCache> cache;
  std::optional<RecordRing> ring;
  std::optional<RecordDecoded> decoded;
  std::optional<RecordExternal> external;
  std::optional<RecordClock> clock;
  std::optional<RecordWrap> wrap;
  std::optional<RecordAttempt> attempt;
  std::optional<RecordPair> pair;
  std::optional<RecordFeed> feed;
  std::optional<RecordIntervention> intervention;
  std::optional<RecordJob> job;
  std::map<std::string, double> device_rates;
  std::optional<RecordTraining> training;
  std::vector<RecordCheck> checks;
  RecordEnvironment environment;
  std::vector<std::string> warnings, stacks, notes, emulated;
  std::optional<Emulation> emulation;
  std::optional<RecordLink> link;
  std::optional<RecordTrace> trace;
  std::vector<RankGpu> gpu;
  std::optional<RecordObjectStore> object_store;
  nlohmann::json strategy;
  std::map<std::string, std::string> versions;

  KEYS(
      Record, REQUIRED(schema, "version of the format: 1"), REQUIRED(row, "id of the row"),
      REQUIRED(repeat, "number of the repeat, from 0"),
      REQUIRED(status, "OK, SKIPPED, DIVERGED, OUT_OF_MEMORY, TIMEOUT, HUNG, CRASHED or INVALID"),
      KEY(reason, "why the row failed or was skipped; empty with OK"),
      REQUIRED(
          config,
          "every field of the row as it ran (`./run_matrix list --fields` explains each); `batch` is the "
          "global batch"),
      KEY(set, "changes made with `--set`, `field=value field=value`; tables and plots show them"),
      WHEN_SET(config_hash, "only in nights: hash of the settings, in place of `config`"),
      REQUIRED(scale, "how big the row ran"), REQUIRED(device, "device that computed"),
      KEY(precision, "number formats used"), KEY(machine, "hardware and operating system"),
      KEY(build, "build of the suite"), KEY(data, "data set"),
      KEY(started_at, "start of the row, UTC, ISO 8601"),
      KEY(launcher, "what started the ranks: local, mpirun, slurm or env"),
      KEY(rank_map, "where each rank ran"), KEY(world_size, "number of processes"),
      KEY(window, "which batches were timed"), KEY(warmup_batches, "untimed batches before the window"),
      KEY(timed_batches, "batches in the window"),
      MEASURED(
          total_s,
          "duration of the timed batches from barrier to barrier, slowest rank. Only with status OK, like "
          "all figures below"),
      MEASURED(images_per_second, "global batch x timed batches / total_s"),
      WHEN_SET(wall_s,
               "from the start of the row's processes to the end of the last one, measured by the harness"),
      MEASURED(samples_ms,
               "{phase: [rank][timed batch]}; phases don't overlap and add up to the step; bench/README.md "
               "defines them"),
      MEASURED(warmup_ms, "{phase: [rank][warm-up batch]}"),
      MEASURED(spans_ms,
               "{span: [rank][timed batch]}: times that overlap phases or lie inside them. `read`, `decode`: "
               "time of loader threads; `communication`: a collective of this rank was posted and not done; "
               "`sync_bn/LAYER`: that layer's wait for the other ranks in forward; `sync_bn_backward`: all "
               "layers' wait in backward"),
      MEASURED(device_ms, "{phase: [rank][timed batch]}: device time, empty on a CPU"),
      MEASURED(loss, "loss of each timed batch, mean over ranks"),
      MEASURED(
          top1,
          "share of correct answers over the timed batches, 0-1 (training accuracy of a short slice: says "
          "nothing about the network)"),
      MEASURED(top5, "share of the same images whose label is among the first five answers"),
      WHEN_SET(communication, "collectives; only with several ranks"),
      MEASURED(ceilings,
               "time of each part alone, measured after the slice; absent with `ceiling_batches` 0. For "
               "communication see `communication.ceiling_ms`"),
      MEASURED(timeline, "events of the last timed batch; absent without phase clock"),
      MEASURED(trace,
               "only with `--trace`; the times of traced batches include the profiler's cost (`notes`)"),
      MEASURED(
          gpu,
          "only on GPUs, unless `gpu_sampling_ms` is 0: readings by rank; those that the driver doesn't support "
          "are absent"),
      WHEN_SET(wrap, "only with --wrap"),
      WHEN_SET(attempt, "only of rows that ran again because others disturbed them"),
      WHEN_SET(pair, "only of runs of `ab`"), WHEN_SET(feed, "only of runs of `feed`"),
      WHEN_SET(
          device_rates,
          "only of runs of `feed` and `machine`: images/s that one device computes, by device file; `own`: as "
          "named for a job"),
      WHEN_SET(intervention, "only of runs of `explain`"),
      WHEN_SET(job, "only of a user's own training job (device `own`)"),
      WHEN_SET(
          training,
          "only in training.jsonl: the same row's timed batches, trained for real on the processor with a "
          "small network"),
      WHEN_SET(link, "only with several nodes"),
      MEASURED(accuracy,
               "only of rows with `validation`: accuracy of the trained network on images that it was not "
               "trained on. The repeats of such a row have different seeds (`config.seed`)"),
      WHEN_SET(cache, "the page cache, or the mount's cache"),
      WHEN_SET(object_store, "only with storage remote, remote_mounted or remote_cached"),
      WHEN_SET(ring, "the loader's batch buffers"),
      WHEN_SET(
          decoded,
          "only with `decoder` nvjpeg or nvjpeg_batched: images decoded during the timed batches, all ranks"),
      WHEN_SET(external, "only with an external `loader`"),
      WHEN_SET(bad_images, "unreadable images, each replaced by the next"),
      WHEN_SET(warnings, "messages about the first unreadable images"),
      WHEN_SET(
          max_rss_bytes,
          "highest sum over the row's processes of anonymous resident memory, without mapped file pages; with an "
          "external loader shared memory included"),
      WHEN_SET(checks, "a row with a failed check is INVALID and has no figure"),
      WHEN_SET(clock, "cost of the phase clock"),
      WHEN_SET(
          strategy,
          "details of the strategy: `buckets` with bytes and parameters (Horovod: the last batch's fused "
          "messages), `semantics` of the package that it rebuilds, Horovod's `negotiations`"),
      WHEN_SET(stacks, "only with HUNG: the stack of each rank, over NCCL with its last collectives"),
      KEY(notes, "deviations from the config, e.g. `cpus: 8 clipped to 2`"),
      KEY(emulated,
          "settings of the suite used in place of hardware, e.g. `read_rate: 26 MB/s`, `host_work: 5 ms a "
          "batch`, `link: ethernet: veth at 200 Mbit/s`"),
      WHEN_SET(emulation,
               "only on device emulated: its device file and scale. A figure is a list: value, provenance "
               "(stated, measured, published, assumed), source"),
      KEY(environment, "disturbances while the row ran"),
      WHEN_SET(versions, "versions of LibTorch, libjpeg-turbo, LMDB and others as loaded"));
};

using Records = std::vector<Record>;
using RecordList = std::vector<const Record*>;
inline RecordList pointers_to(const Records& records) {
  RecordList list;
  for (const Record& record : records) list.push_back(&record);
  return list;
}

inline bool is_ok(const Record& record) { return record.status == "OK"; }
// Empty when the record doesn't contain it.
std::string cache_state(const Record& record);
std::string storage_used(const Record& record);
std::string version_of(const Record& record, const std::string& library);

// Throws Violation with the key when the object is not a valid record of schema 1. Ignores unknown keys and
// unknown fields of `config`: a later version may have added them.
Record record_from_json(nlohmann::json object);
nlohmann::json to_json(const Record& record);

// Clears the members of Presence::figure, which only a record with status OK may have.
void drop_figures(Record& record);

// The Markdown table of all keys in results/README.md.
std::string record_keys_as_markdown();
std::string record_keys_as_json();

}  // namespace harness
