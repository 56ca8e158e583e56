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

  static constexpr auto keys() {
    return known_keys(
        Required{"schema", &Record::schema, "version of the format: 1"},
        Required{"row", &Record::row, "id of the row"},
        Required{"repeat", &Record::repeat, "number of the repeat, from 0"},
        Required{"status", &Record::status,
                 "OK, SKIPPED, DIVERGED, OUT_OF_MEMORY, TIMEOUT, HUNG, CRASHED or INVALID"},
        Key{"reason", &Record::reason, "why the row failed or was skipped; empty with OK"},
        Required{
            "config", &Record::config,
            "every field of the row as it ran (`./run_matrix list --fields` explains each); `batch` is the "
            "global batch"},
        Key{"set", &Record::set,
            "changes made with `--set`, `field=value field=value`; tables and plots show them"},
        WhenSet{"config_hash", &Record::config_hash,
                "only in nights: hash of the settings, in place of `config`"},
        Required{"scale", &Record::scale, "how big the row ran"},
        Required{"device", &Record::device, "device that computed"},
        Key{"precision", &Record::precision, "number formats used"},
        Key{"machine", &Record::machine, "hardware and operating system"},
        Key{"build", &Record::build, "build of the suite"}, Key{"data", &Record::data, "data set"},
        Key{"started_at", &Record::started_at, "start of the row, UTC, ISO 8601"},
        Key{"launcher", &Record::launcher, "what started the ranks: local, mpirun, slurm or env"},
        Key{"rank_map", &Record::rank_map, "where each rank ran"},
        Key{"world_size", &Record::world_size, "number of processes"},
        Key{"window", &Record::window, "which batches were timed"},
        Key{"warmup_batches", &Record::warmup_batches, "untimed batches before the window"},
        Key{"timed_batches", &Record::timed_batches, "batches in the window"},
        Measured{
            "total_s", &Record::total_s,
            "duration of the timed batches from barrier to barrier, slowest rank. Only with status OK, like "
            "all figures below"},
        Measured{"images_per_second", &Record::images_per_second, "global batch x timed batches / total_s"},
        WhenSet{"wall_s", &Record::wall_s,
                "from the start of the row's processes to the end of the last one, measured by the harness"},
        Measured{"samples_ms", &Record::samples_ms,
                 "{phase: [rank][timed batch]}; phases don't overlap and add up to the step; bench/README.md "
                 "defines them"},
        Measured{"warmup_ms", &Record::warmup_ms, "{phase: [rank][warm-up batch]}"},
        Measured{
            "spans_ms", &Record::spans_ms,
            "{span: [rank][timed batch]}: times that overlap phases or lie inside them. `read`, `decode`: "
            "time of loader threads; `communication`: a collective of this rank was posted and not done; "
            "`sync_bn/LAYER`: that layer's wait for the other ranks in forward; `sync_bn_backward`: all "
            "layers' wait in backward"},
        Measured{"device_ms", &Record::device_ms,
                 "{phase: [rank][timed batch]}: device time, empty on a CPU"},
        Measured{"loss", &Record::loss, "loss of each timed batch, mean over ranks"},
        Measured{
            "top1", &Record::top1,
            "share of correct answers over the timed batches, 0-1 (training accuracy of a short slice: says "
            "nothing about the network)"},
        Measured{"top5", &Record::top5,
                 "share of the same images whose label is among the first five answers"},
        WhenSet{"communication", &Record::communication, "collectives; only with several ranks"},
        Measured{"ceilings", &Record::ceilings,
                 "time of each part alone, measured after the slice; absent with `ceiling_batches` 0. For "
                 "communication see `communication.ceiling_ms`"},
        Measured{"timeline", &Record::timeline, "events of the last timed batch; absent without phase clock"},
        Measured{"trace", &Record::trace,
                 "only with `--trace`; the times of traced batches include the profiler's cost (`notes`)"},
        Measured{
            "gpu", &Record::gpu,
            "only on GPUs, unless `gpu_sampling_ms` is 0: readings by rank; those that the driver doesn't support "
            "are absent"},
        WhenSet{"wrap", &Record::wrap, "only with --wrap"},
        WhenSet{"attempt", &Record::attempt, "only of rows that ran again because others disturbed them"},
        WhenSet{"pair", &Record::pair, "only of runs of `ab`"},
        WhenSet{"feed", &Record::feed, "only of runs of `feed`"},
        WhenSet{"device_rates", &Record::device_rates,
                "only of runs of `feed` and `machine`: images/s that one device computes, by device file"},
        WhenSet{"intervention", &Record::intervention, "only of runs of `explain`"},
        WhenSet{"job", &Record::job, "only of a user's own training job (device `own`)"},
        WhenSet{
            "training", &Record::training,
            "only in training.jsonl: the same row's timed batches, trained for real on the processor with a "
            "small network"},
        WhenSet{"link", &Record::link, "only with several nodes"},
        Measured{"accuracy", &Record::accuracy,
                 "only of rows with `validation`: accuracy of the trained network on images that it was not "
                 "trained on. The repeats of such a row have different seeds (`config.seed`)"},
        WhenSet{"cache", &Record::cache, "the page cache, or the mount's cache"},
        WhenSet{"object_store", &Record::object_store,
                "only with storage remote, remote_mounted or remote_cached"},
        WhenSet{"ring", &Record::ring, "the loader's batch buffers"},
        WhenSet{
            "decoded", &Record::decoded,
            "only with `decoder` nvjpeg or nvjpeg_batched: images decoded during the timed batches, all ranks"},
        WhenSet{"external", &Record::external, "only with an external `loader`"},
        WhenSet{"bad_images", &Record::bad_images, "unreadable images, each replaced by the next"},
        WhenSet{"warnings", &Record::warnings, "messages about the first unreadable images"},
        WhenSet{
            "max_rss_bytes", &Record::max_rss_bytes,
            "highest sum over the row's processes of anonymous resident memory, without mapped file pages; with an "
            "external loader shared memory included"},
        WhenSet{"checks", &Record::checks, "a row with a failed check is INVALID and has no figure"},
        WhenSet{"clock", &Record::clock, "cost of the phase clock"},
        WhenSet{
            "strategy", &Record::strategy,
            "details of the strategy: `buckets` with bytes and parameters (Horovod: the last batch's fused "
            "messages), `semantics` of the package that it rebuilds, Horovod's `negotiations`"},
        WhenSet{"stacks", &Record::stacks,
                "only with HUNG: the stack of each rank, over NCCL with its last collectives"},
        Key{"notes", &Record::notes, "deviations from the config, e.g. `cpus: 8 clipped to 2`"},
        Key{"emulated", &Record::emulated,
            "settings of the suite used in place of hardware, e.g. `read_rate: 26 MB/s`, `host_work: 5 ms a "
            "batch`, `link: ethernet: veth at 200 Mbit/s`"},
        WhenSet{"emulation", &Record::emulation,
                "only on device emulated: its device file and scale. A figure is a list: value, provenance "
                "(stated, measured, published, assumed), source"},
        Key{"environment", &Record::environment, "disturbances while the row ran"},
        WhenSet{"versions", &Record::versions,
                "versions of LibTorch, libjpeg-turbo, LMDB and others as loaded"});
  }
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
