// A record: what one run of one row came to, a line of records.jsonl. The members' help is what
// results/README.md says of the keys; bench/README.md defines what is inside each time.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

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
  std::optional<RecordClock> clock;
  std::optional<RecordWrap> wrap;
  std::optional<RecordPair> pair;
  std::vector<RecordCheck> checks;
  RecordEnvironment environment;
  std::vector<std::string> warnings, stacks, notes, emulated;
  std::optional<RecordLink> link;
  std::optional<RecordTrace> trace;
  std::vector<RankGpu> gpu;
  std::optional<RecordObjectStore> object_store;
  nlohmann::json strategy;
  std::map<std::string, std::string> versions;

  static constexpr auto keys() {
    return std::tuple(
        Key{"schema", &Record::schema, "1", Presence::required},
        Key{"row", &Record::row, "id of the row", Presence::required},
        Key{"repeat", &Record::repeat, "0, 1, ... with --repeat", Presence::required},
        Key{"status", &Record::status,
            "OK, SKIPPED, DIVERGED, OUT_OF_MEMORY, TIMEOUT, HUNG, CRASHED or INVALID", Presence::required},
        Key{"reason", &Record::reason, "why, empty with OK"},
        Key{"config", &Record::config,
            "every field of the row as it ran (`./run_matrix list --fields` explains each); `batch` is the "
            "global batch",
            Presence::required},
        Key{"set", &Record::set, "what `--set` changed, `field=value field=value`; tables and plots name it"},
        Key{"config_hash", &Record::config_hash, "of a night, which keeps no more of the fields",
            Presence::when_set},
        Key{"scale", &Record::scale, "how big the row ran", Presence::required},
        Key{"device", &Record::device, "what computed", Presence::required},
        Key{"precision", &Record::precision, "number formats really used"},
        Key{"machine", &Record::machine, "what it ran on"}, Key{"build", &Record::build, "what was run"},
        Key{"data", &Record::data, "on which images"},
        Key{"started_at", &Record::started_at, "UTC, ISO 8601"},
        Key{"launcher", &Record::launcher, "what started the ranks: local, mpirun, slurm or env"},
        Key{"rank_map", &Record::rank_map, "where each rank ran"},
        Key{"world_size", &Record::world_size, "processes"},
        Key{"window", &Record::window, "which batches were timed"},
        Key{"warmup_batches", &Record::warmup_batches, "untimed, before the window"},
        Key{"timed_batches", &Record::timed_batches, "in the window"},
        Key{"total_s", &Record::total_s,
            "the timed batches, barrier to barrier, slowest rank. Only with status OK, like all figures "
            "below",
            Presence::figure},
        Key{"images_per_second", &Record::images_per_second, "global batch x timed batches / total_s",
            Presence::figure},
        Key{"wall_s", &Record::wall_s,
            "from starting the row's processes to the end of the last, taken outside them",
            Presence::when_set},
        Key{"samples_ms", &Record::samples_ms,
            "{phase: [rank][timed batch]}; phases are exclusive and add up, bench/README.md defines them",
            Presence::figure},
        Key{"warmup_ms", &Record::warmup_ms, "{phase: [rank][warm-up batch]}", Presence::figure},
        Key{"spans_ms", &Record::spans_ms,
            "{span: [rank][timed batch]}: what overlaps phases or lies inside them. `read`, `decode`: time "
            "of loader threads; `communication`: some collective of this rank was posted and not done; "
            "`sync_bn/LAYER`: that layer's wait for the other ranks in forward; `sync_bn_backward`: of all "
            "layers",
            Presence::figure},
        Key{"device_ms", &Record::device_ms, "{phase: [rank][timed batch]}: device time, empty on a CPU",
            Presence::figure},
        Key{"loss", &Record::loss, "per timed batch, mean over ranks", Presence::figure},
        Key{"top1", &Record::top1,
            "share of right answers over the timed batches, 0-1 (training accuracy of a short slice: no "
            "result in itself)",
            Presence::figure},
        Key{"top5", &Record::top5, "the same among the first five", Presence::figure},
        Key{"communication", &Record::communication, "only with several ranks", Presence::when_set},
        Key{"ceilings", &Record::ceilings,
            "what the row could do if one part alone bound it, measured after the slice; absent with "
            "`ceiling_batches` 0. The ceiling of communication is `communication.ceiling_ms`",
            Presence::figure},
        Key{"timeline", &Record::timeline,
            "the last timed batch as it lay in time; absent without phase clock", Presence::figure},
        Key{"trace", &Record::trace, "only with `--trace`; the batches' times contain the profiler (`notes`)",
            Presence::figure},
        Key{"gpu", &Record::gpu,
            "only on GPUs with `gpu_sampling_ms`, by rank; what the driver doesn't tell is absent",
            Presence::figure},
        Key{"wrap", &Record::wrap, "only with --wrap", Presence::when_set},
        Key{"pair", &Record::pair, "only of runs of `ab`", Presence::when_set},
        Key{"link", &Record::link, "only with several nodes", Presence::when_set},
        Key{"accuracy", &Record::accuracy,
            "only of rows with `validation`: what the trained network makes of images that it was not "
            "trained on. The repeats of such a row have different seeds (`config.seed`)",
            Presence::figure},
        Key{"cache", &Record::cache, "the page cache, or the mount's", Presence::when_set},
        Key{"object_store", &Record::object_store,
            "only with storage remote, remote_mounted or remote_cached", Presence::when_set},
        Key{"ring", &Record::ring, "the loader's buffers", Presence::when_set},
        Key{"bad_images", &Record::bad_images, "unreadable images, each replaced by the next",
            Presence::when_set},
        Key{"warnings", &Record::warnings, "the first of them by name", Presence::when_set},
        Key{"max_rss_bytes", &Record::max_rss_bytes,
            "highest sum over the row's processes of anonymous resident memory, without mapped file pages",
            Presence::when_set},
        Key{"checks", &Record::checks, "a row with a failed check is INVALID and has no figure",
            Presence::when_set},
        Key{"clock", &Record::clock, "what measuring costs", Presence::when_set},
        Key{"strategy", &Record::strategy,
            "what the strategy says of itself: `buckets` with bytes and parameters (Horovod: the last "
            "batch's fused messages), `semantics` of the package that it rebuilds, Horovod's `negotiations`",
            Presence::when_set},
        Key{"stacks", &Record::stacks, "only with HUNG: what each rank wrote when asked for its stack",
            Presence::when_set},
        Key{"notes", &Record::notes, "what ran otherwise than written, e.g. `cpus: 8 clipped to 2`"},
        Key{"emulated", &Record::emulated,
            "settings of the suite used in place of hardware, e.g. `read_rate: 26 MB/s`, `host_work: 5 ms a "
            "batch`, `link: ethernet: veth at 200 Mbit/s`"},
        Key{"environment", &Record::environment, "what disturbed the row"},
        Key{"versions", &Record::versions, "of LibTorch, libjpeg-turbo, LMDB and others as loaded",
            Presence::when_set});
  }
};

using Records = std::vector<Record>;
using RecordList = std::vector<const Record*>;

inline bool is_ok(const Record& record) { return record.status == "OK"; }
// Empty where the record doesn't say.
std::string cache_state(const Record& record);
std::string storage_used(const Record& record);
std::string version_of(const Record& record, const std::string& library);

// Throws Violation, with the key, when this is no record of a version that this program reads. Fields of
// `config` that this program does not know, and keys, are left out: a later version may have added them.
Record record_from_json(nlohmann::json object);
nlohmann::json to_json(const Record& record);

// Takes away what only a row with status OK may have.
void drop_figures(Record& record);

// Every key with its meaning, as rows of a Markdown table: the list in results/README.md.
std::string record_keys_as_markdown();

}  // namespace harness
