// What a record says of each of its subjects; record.h puts the parts together.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/contract/codec.h"

namespace harness {

struct RecordScale {
  std::string name, summary;
  int64_t batch_divisor = 1, c0 = 0;
  static constexpr auto keys() {
    return std::tuple(
        Key{"name", &RecordScale::name, "article, rehearsal or smoke", Presence::required},
        Key{"batch_divisor", &RecordScale::batch_divisor, "what the article's batches are divided by"},
        Key{"c0", &RecordScale::c0, "loader threads per node of the article's row [7]"},
        Key{"summary", &RecordScale::summary, "the scale in a sentence"});
  }
};

struct RecordDevice {
  std::string kind, name, label, driver;
  nlohmann::json settings;
  static constexpr auto keys() {
    return std::tuple(
        Key{"kind", &RecordDevice::kind, "cpu or cuda", Presence::required},
        Key{"name", &RecordDevice::name, "of the processor or GPU", Presence::when_set},
        Key{"label", &RecordDevice::label, "as plots show it, e.g. `4 CPU replicas`", Presence::when_set},
        Key{"driver", &RecordDevice::driver, "version of a GPU's driver", Presence::when_set},
        Key{"settings", &RecordDevice::settings,
            "of a GPU: memory, compute capability, peak memory allocated and reserved, bytes and rate of the "
            "copies of batches (`h2d_bytes`, `h2d_gb_per_s`), cuDNN, nvJPEG, TF32, `clocks` (SM and memory "
            "in MHz, at the row's end and at most)",
            Presence::when_set});
  }
};

struct RecordPrecision {
  std::string name, sixteen_bit, label;
  static constexpr auto keys() {
    return std::tuple(
        Key{"name", &RecordPrecision::name, "as in the row"},
        Key{"sixteen_bit", &RecordPrecision::sixteen_bit, "the 16-bit type really used, or empty"},
        Key{"label", &RecordPrecision::label, "e.g. `O2 in bf16`"});
  }
};

struct RecordMachine {
  std::string host, cpu, governor, kernel, os, fingerprint, environment;
  std::optional<int64_t> cores, memory_bytes;
  std::vector<std::string> sixteen_bit_instructions;
  std::optional<bool> virtual_machine;
  static constexpr auto keys() {
    return std::tuple(
        Key{"host", &RecordMachine::host, "name"}, Key{"cpu", &RecordMachine::cpu, "model of the processor"},
        Key{"cores", &RecordMachine::cores, "that the run may use"},
        Key{"memory_bytes", &RecordMachine::memory_bytes, "that the run may use"},
        Key{"sixteen_bit_instructions", &RecordMachine::sixteen_bit_instructions,
            "instruction sets for 16-bit types, e.g. avx512_bf16"},
        Key{"virtual_machine", &RecordMachine::virtual_machine, "whether a hypervisor runs below"},
        Key{"governor", &RecordMachine::governor, "of the processor's frequency"},
        Key{"kernel", &RecordMachine::kernel, "name and release"},
        Key{"os", &RecordMachine::os, "distribution"},
        Key{"fingerprint", &RecordMachine::fingerprint, "of a night: the hardware in words",
            Presence::when_set},
        Key{"environment", &RecordMachine::environment, "of a night whose environment can't be taken apart",
            Presence::when_set});
  }
};

struct RecordBuild {
  std::string revision, compiler, type, flags, sanitize, libtorch;
  static constexpr auto keys() {
    return std::tuple(Key{"revision", &RecordBuild::revision, "of the sources, -dirty with changes"},
                      Key{"compiler", &RecordBuild::compiler, "name and version"},
                      Key{"type", &RecordBuild::type, "CMake's build type"},
                      Key{"flags", &RecordBuild::flags, "of the compiler"},
                      Key{"sanitize", &RecordBuild::sanitize, "sanitizers, or empty"},
                      Key{"libtorch", &RecordBuild::libtorch, "version built against"});
  }
};

struct RecordData {
  std::string fingerprint, kind;
  std::optional<int64_t> images, bytes, classes, seed, skipped, validation_images;
  std::map<std::string, int64_t> left_out;
  static constexpr auto keys() {
    return std::tuple(
        Key{"fingerprint", &RecordData::fingerprint, "of names, sizes and a sample of the content",
            Presence::when_set},
        Key{"images", &RecordData::images, "in train/", Presence::when_set},
        Key{"bytes", &RecordData::bytes, "of the encoded files", Presence::when_set},
        Key{"classes", &RecordData::classes, "class folders", Presence::when_set},
        Key{"kind", &RecordData::kind, "stand-in or folder", Presence::when_set},
        Key{"seed", &RecordData::seed, "of a stand-in", Presence::when_set},
        Key{"skipped", &RecordData::skipped, "files named like images that are none", Presence::when_set},
        Key{"validation_images", &RecordData::validation_images, "in val/", Presence::when_set},
        Key{"left_out", &RecordData::left_out,
            "with --skip-unreadable: files by ending in formats that aren't decoded", Presence::when_set});
  }
};

// A rank's place on the machine.
struct RankPlace {
  int64_t rank = 0, node = 0;
  std::string host, device;
  std::vector<int64_t> cpus;
  nlohmann::json nccl;
  static constexpr auto keys() {
    return std::tuple(
        Key{"rank", &RankPlace::rank, "number of the process"},
        Key{"node", &RankPlace::node, "that it runs on"},
        Key{"host", &RankPlace::host, "name of that machine"},
        Key{"device", &RankPlace::device, "e.g. cpu:0"},
        Key{"cpus", &RankPlace::cpus, "cores that it may use"},
        Key{"nccl", &RankPlace::nccl,
            "with backend nccl: `version`; `network` that NCCL chose for what leaves a node and "
            "`asked_network` (by the link; absent with one node); `transports`: {name: {`channels` from this "
            "rank, `peers`: the ranks at their ends}}; `environment`: {variable: {`value`, `set_by`: row or "
            "user}}; `note` where the log names no channel",
            Presence::when_set});
  }
};

struct RecordWindow {
  std::string article;
  int64_t first = 0, last = 0;
  static constexpr auto keys() {
    return std::tuple(
        Key{"article", &RecordWindow::article, "batches that the article timed: 0-299 or 100-399"},
        Key{"first", &RecordWindow::first, "first batch timed here"},
        Key{"last", &RecordWindow::last, "last batch timed here"});
  }
};

struct RecordCheck {
  std::string name;
  bool ok = false;
  std::string detail;
  static constexpr auto keys() {
    return std::tuple(Key{"name", &RecordCheck::name, "what was checked", Presence::required},
                      Key{"ok", &RecordCheck::ok, "whether it held", Presence::required},
                      Key{"detail", &RecordCheck::detail, "what was found"});
  }
};

struct RecordCache {
  std::string requested, state, storage_used, note;
  std::optional<double> resident_before;
  std::optional<int64_t> device_bytes, encoded_bytes, server_bytes;
  static constexpr auto keys() {
    return std::tuple(
        Key{"requested", &RecordCache::requested, "as in the row"},
        Key{"state", &RecordCache::state, "cold, warm, mixed (neither), unknown or none"},
        Key{"storage_used", &RecordCache::storage_used, "storage that was really read"},
        Key{"resident_before", &RecordCache::resident_before,
            "share of the pages in memory before the slice, 0-1, or null"},
        Key{"device_bytes", &RecordCache::device_bytes, "read from the device during the slice, or null"},
        Key{"encoded_bytes", &RecordCache::encoded_bytes, "delivered to the loader"},
        Key{"server_bytes", &RecordCache::server_bytes, "with an object store: what it sent to all ranks",
            Presence::when_set},
        Key{"note", &RecordCache::note, "what could not be known, and why"});
  }
};

struct RecordMessage {
  int64_t bytes = 0;
  std::string type;
  static constexpr auto keys() {
    return std::tuple(Key{"bytes", &RecordMessage::bytes, "of the message"},
                      Key{"type", &RecordMessage::type, "number format of its elements"});
  }
};

struct RecordCommunication {
  std::optional<int64_t> all_reduced_bytes, broadcast_bytes, gathered_bytes;
  std::vector<RecordMessage> all_reduces;
  std::optional<double> ceiling_ms;
  static constexpr auto keys() {
    return std::tuple(
        Key{"all_reduced_bytes", &RecordCommunication::all_reduced_bytes,
            "of one rank over the timed batches"},
        Key{"broadcast_bytes", &RecordCommunication::broadcast_bytes, "the same of its broadcasts"},
        Key{"gathered_bytes", &RecordCommunication::gathered_bytes, "the same of its all-gathers"},
        Key{"all_reduces", &RecordCommunication::all_reduces, "those of the last batch, in their order"},
        Key{"ceiling_ms", &RecordCommunication::ceiling_ms,
            "these all-reduces with nothing else running, median of 21 rounds, slowest rank"});
  }
};

struct RecordCeilings {
  int64_t batches = 0;
  std::optional<double> loader_ms, read_share, compute_ms;
  std::map<std::string, double> compute;
  static constexpr auto keys() {
    return std::tuple(
        Key{"batches", &RecordCeilings::batches, "that each was measured over"},
        Key{"loader_ms", &RecordCeilings::loader_ms,
            "per batch with the loader alone, slowest rank; absent, as `read_share`, where the cache can't "
            "be made cold again (remote_cached)",
            Presence::when_set},
        Key{"read_share", &RecordCeilings::read_share, "of reading in its threads' read and decode time, 0-1",
            Presence::when_set},
        Key{"compute_ms", &RecordCeilings::compute_ms,
            "per batch of the whole step on made-up batches, communication included, slowest rank",
            Presence::when_set},
        Key{"compute", &RecordCeilings::compute, "the same by phase, ms per batch, mean over ranks"});
  }
};

struct RecordRing {
  int64_t depth = 0;
  std::vector<int64_t> buffer_bytes, ready_at_start, ready_at_end;
  static constexpr auto keys() {
    return std::tuple(Key{"depth", &RecordRing::depth, "batches that the loader may hold ready"},
                      Key{"buffer_bytes", &RecordRing::buffer_bytes, "memory of the batches, by rank"},
                      Key{"ready_at_start", &RecordRing::ready_at_start,
                          "complete batches in the ring where the window opened, by rank"},
                      Key{"ready_at_end", &RecordRing::ready_at_end, "the same where it closed"});
  }
};

struct TimelineEvent {
  int64_t rank = 0;
  std::string track, name;
  double begin_ms = 0, end_ms = 0;
  static constexpr auto keys() {
    return std::tuple(
        Key{"rank", &TimelineEvent::rank, "whose event it is"},
        Key{"track", &TimelineEvent::track,
            "`host` (its phases), `collectives` (from being posted to the end) or, with data_parallel, "
            "`device 0`, `device 1`, ... (each replica's own forward and backward)"},
        Key{"name", &TimelineEvent::name, "phase or collective"},
        Key{"begin_ms", &TimelineEvent::begin_ms, "as `clocks` says"},
        Key{"end_ms", &TimelineEvent::end_ms, "as `clocks` says"});
  }
};

struct RecordTimeline {
  int64_t batch = 0;
  std::string clocks;
  std::vector<TimelineEvent> events;
  static constexpr auto keys() {
    return std::tuple(Key{"batch", &RecordTimeline::batch, "number of the timed batch"},
                      Key{"clocks", &RecordTimeline::clocks,
                          "`one host`, emulated nodes included: ms since the first rank began the batch, or "
                          "`each rank's own`: since that rank began it"},
                      Key{"events", &RecordTimeline::events, "of the first 16 ranks"});
  }
};

struct RecordEnvironment {
  std::optional<double> load_average, steal_share;
  std::optional<int64_t> throttled_periods;
  static constexpr auto keys() {
    return std::tuple(Key{"load_average", &RecordEnvironment::load_average, "before the row"},
                      Key{"steal_share", &RecordEnvironment::steal_share,
                          "time that the hypervisor took during the row, 0-1"},
                      Key{"throttled_periods", &RecordEnvironment::throttled_periods,
                          "in which a limit on processor time held the row back"});
  }
};

struct RecordAccuracy {
  double top1 = 0, top5 = 0;
  int64_t images = 0, classes = 0, train_images = 0;
  std::string kind;
  static constexpr auto keys() {
    return std::tuple(
        Key{"top1", &RecordAccuracy::top1, "share of val/ that is right, 0-1", Presence::required},
        Key{"top5", &RecordAccuracy::top5, "share of val/ that is among the first five, 0-1"},
        Key{"images", &RecordAccuracy::images, "of val/"},
        Key{"classes", &RecordAccuracy::classes, "of the data set"},
        Key{"kind", &RecordAccuracy::kind, "synthetic (stand-in classes) or real"},
        Key{"train_images", &RecordAccuracy::train_images, "in train/"});
  }
};

struct RecordClock {
  double calls = 0, ns_per_call = 0;
  static constexpr auto keys() {
    return std::tuple(Key{"calls", &RecordClock::calls, "of the phase clock per batch"},
                      Key{"ns_per_call", &RecordClock::ns_per_call, "measured outside the slice"});
  }
};

struct RecordWrap {
  std::string command;
  int64_t rank = 0;
  static constexpr auto keys() {
    return std::tuple(
        Key{"command", &RecordWrap::command, "what the rank ran under; its cost lies in the times"},
        Key{"rank", &RecordWrap::rank, "which one"});
  }
};

// A side of an experiment of `ab`.
struct RecordPair {
  std::string experiment, side;
  int64_t block = 0;
  bool first = false;
  static constexpr auto keys() {
    return std::tuple(Key{"experiment", &RecordPair::experiment, "both sides have the same"},
                      Key{"side", &RecordPair::side, "A or B"},
                      Key{"block", &RecordPair::block, "runs of one block lie next to one another in time"},
                      Key{"first", &RecordPair::first, "whether this side of the block ran first"});
  }
};

}  // namespace harness
