// A row of a matrix: one training configuration, and the table of its fields.
#pragma once
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/contract/codec.h"

namespace harness {

// All fields of a resolved row (scale applied), as in train_slice's job and the record's `config`.
struct Row {
#define FIELD(type, name, usual, ...) type name = usual;
#include "harness/contract/row_fields.inc"
#undef FIELD
  std::vector<std::string> as_run = {};  // not a field: names of the fields that scales must not replace
};

// Devices of all nodes; images per batch on the first device, rounded up: a remainder goes to the first
// devices.
inline int64_t all_devices(const Row& row) { return row.nodes * row.devices; }
inline int64_t images_per_device(const Row& row) {
  return (row.batch + all_devices(row) - 1) / all_devices(row);
}

// False: the row measures the loader alone.
inline bool trains(const Row& row) { return row.part == "all"; }

// Whether another program makes the batches (bench/loading/external).
inline bool has_external_loader(const Row& row) { return row.loader != "suite"; }
// Whether no run chooses time_scale by this machine's speed. An external loader runs at its own speed.
inline bool keeps_time_scale(const Row& row) {
  return has_external_loader(row) || std::ranges::find(row.as_run, "time_scale") != row.as_run.end();
}

// Bytes of one decoded image of a batch, as the loader hands it to the device.
inline double decoded_image_bytes(const Row& row) {
  return 3 * double(row.image_px) * double(row.image_px) * (row.batch_format == "uint8" ? 1 : 4);
}

// Batches that a loader with so many threads may hold ready: those of its ring, or two per thread as
// torch.utils.data.DataLoader prefetches (prefetch_factor=2).
inline int64_t batches_ahead(const Row& row, int64_t threads) {
  return row.handing_over == "dataloader" && threads > 0 ? 2 * threads : row.ring_depth;
}
// The same for all loader threads of a node, which is the most that one rank can have.
inline int64_t batches_ahead(const Row& row) { return batches_ahead(row, row.loader_threads); }

// Batches that a loader with so many threads reads for the slice.
inline int64_t batches_of_slice(const Row& row, int64_t threads) {
  return row.warmup_batches + row.timed_batches + batches_ahead(row, threads);
}
// Batches that it reads after the slice to measure its ceiling (the first untimed). Cold rows need unread
// ones: a disk or a hypervisor may have cached those of the slice.
inline int64_t unread_batches_of_ceiling(const Row& row, int64_t threads) {
  if (row.cache != "cold" || row.ceiling_batches == 0) return 0;
  return 1 + row.ceiling_batches + batches_ahead(row, threads);
}

// Whether the row's `cpus` are emulated ones, which decode at a set rate, instead of this machine's.
inline bool emulates_cores(const Row& row) { return !row.device_file.empty() && row.core_images_per_s > 0; }
// The emulated limits of storage reads on this machine: as slow as the emulated cores.
inline double read_rate_here(const Row& row) {
  return emulates_cores(row) ? row.read_rate / row.time_scale : row.read_rate;
}
inline double read_latency_here_ms(const Row& row) {
  return emulates_cores(row) ? row.read_latency_ms * row.time_scale : row.read_latency_ms;
}
// Images per second that a node's loader may decode; 0: no limit.
inline double loader_images_per_s(const Row& row) {
  if (!emulates_cores(row)) return 0;
  return double(std::min(row.cpus, std::max<int64_t>(1, row.loader_threads))) * row.core_images_per_s /
         row.time_scale;
}

// Rate of an emulated link on this machine. On emulated devices its bytes are divided by wire_divisor, and
// all durations by batch_divisor / time_scale, so that they keep their proportion.
inline double link_rate_here_mbit(const Row& row, int64_t batch_divisor) {
  if (row.device_file.empty()) return row.link_rate_mbit;
  return row.link_rate_mbit * double(batch_divisor) / (row.time_scale * double(row.wire_divisor));
}

// The role of a field decides whether `like:` copies it, whether --set may change it, whether rows that
// differ in it may be compared, and whether a change begins a new series of nights.
enum class Role {
  identity,     // how the row trains: another value is another configuration
  sizing,       // amount of work: figures of different sizes are not compared
  descriptive,  // description of the row, including the article's figures
  measurement,  // what is measured, and the seed: does not change how the row trains
  derived       // follows from other fields and the scale
};

// The devices on which a field has an effect.
enum class ActsOn { all, gpus, gpus_and_emulated };

// What a field allows and is for, beside its key.
struct FieldFacts {
  Role role = Role::identity;
  const char* unit = "";
  double min = 0, max = 0;                // numbers only, both ends allowed
  double least = 0;                       // numbers of which 0 stands for none: the smallest other one
  std::vector<std::string> choices = {};  // strings only; empty: any text, or the values of `axis`
  const char* axis = nullptr;  // axis of the matrix; allowed values: those that train_slice registers
  // For strings with a syntax: returns what was expected instead, empty for a valid text.
  std::string (*problem)(const std::string&) = nullptr;
  ActsOn acts_on = ActsOn::all;
  // False: real_twin() takes its usual value, since it says how images are loaded, hardware is emulated or
  // time is measured, not how the row trains.
  bool trains = true;
  bool in_c0 = false;  // a count that may be written as a multiple of the scale's C0, such as `1.5 C0`
};

struct Field : Key, FieldFacts {
  Field(const Key& key, const FieldFacts& facts = {}) : Key(key), FieldFacts(facts) {}
  // Whether it counts in config_hash(): titles, notes, seeds and what is measured don't.
  bool is_setting() const { return role != Role::descriptive && role != Role::measurement; }
  bool is_number() const { return type->kind == Kind::integer || type->kind == Kind::number; }
};

const std::vector<Field>& fields();
const Field* find_field(const std::string& name);  // null when there is none
bool has_role(const std::string& field, Role role);

// A field's value as text; numbers as in JSON.
std::string field_text(const Row& row, const Field& field);
std::string field_text(const Row& row, const std::string& field);  // throws std::out_of_range: unknown field
double field_number(const Row& row, const std::string& field);     // 0 for text

nlohmann::json to_json(const Row& row);

// For the codec. Throws Violation, also for an unknown field.
void read_row(void* row, const nlohmann::json& object);
nlohmann::json written_row(const void* row);
template <>
struct TypeOf<Row> {
  static constexpr ValueType value = own_type<Row>(written_row, read_row);
};

}  // namespace harness
