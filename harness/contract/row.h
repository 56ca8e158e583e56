// A row of a matrix: one training configuration, and the single table that names its fields.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "harness/contract/codec.h"

namespace harness {

// Every field of a resolved row (scale applied), as train_slice receives it and as the record's `config`
// keeps it. The meaning, unit and allowed values of each field stand in fields() and nowhere else.
struct Row {
  std::string id;
  std::string title;
  std::string base;
  std::string identity = "inferred";
  std::string inferred;
  double published_s = 0;
  std::string published_ms;
  std::string published_note;
  std::string window = "100-399";

  std::string device = "cpu";
  int64_t nodes = 1;
  int64_t devices = 1;
  std::string strategy = "single";
  std::string backend = "none";
  std::string link = "none";
  double link_rate_mbit = 0;
  std::string precision = "o0";
  bool sync_bn = false;

  std::string storage = "tmpfs";
  std::string order = "shuffled";
  int64_t interleave = 4;
  int64_t shuffle_window = 1024;
  std::string cache = "warm";
  bool readahead = true;
  double read_rate = 0;
  double read_latency_ms = 0;
  double store_rate_mbit = 0;
  double store_latency_ms = 0;

  int64_t cpus = 16;
  int64_t loader_threads = 16;
  int64_t ring_depth = 4;
  bool pin_loader_threads = false;
  std::string batch_format = "float32";
  int64_t intra_op_threads = 1;
  bool pinned = true;
  bool non_blocking = true;
  bool cudnn_benchmark = true;
  bool tf32 = true;
  bool channels_last = false;
  bool prefetch = false;
  bool cuda_graphs = false;
  std::string decoder = "cpu";
  double gpu_sampling_ms = 0;

  std::string model = "resnet18";
  int64_t width = 64;
  int64_t image_px = 224;
  int64_t classes = 1000;
  int64_t batch = 256;
  double learning_rate = 0.1;
  double momentum = 0.9;
  double weight_decay = 1e-4;
  bool fused_sgd = true;

  double bucket_mib = 25;
  double first_bucket_mib = 1;
  bool broadcast_buffers = true;
  bool gradient_as_bucket_view = false;
  bool static_buckets = false;
  std::string compression = "none";
  int64_t message_size = 10000000;
  bool delay_allreduce = false;
  double fusion_mib = 64;
  double cycle_ms = 1;

  bool validation = false;
  int64_t warmup_batches = 100;
  int64_t timed_batches = 300;
  int64_t seed = 1;
  bool phase_clock = true;
  std::string malloc = "retain";

  std::vector<std::string> as_run;  // no field: names of those that no scale replaces
  int64_t ceiling_batches = 20;
  double host_work_ms = 0;
  int64_t loss_every = 1;
};

// Devices of all nodes, and the images of a batch that the first of them computes: remainders go to the
// first.
inline int64_t all_devices(const Row& row) { return row.nodes * row.devices; }
inline int64_t images_per_device(const Row& row) {
  return (row.batch + all_devices(row) - 1) / all_devices(row);
}

// A count that may be written as a multiple of the scale's C0: `3 C0`, `1.5 C0` or a plain integer.
struct CountInC0 {
  int64_t Row::*member;
};

using Member = std::variant<std::string Row::*, int64_t Row::*, double Row::*, bool Row::*, CountInC0>;

// What a field says of a row. Whatever depends on it (what `like:` hands on, what --set may change, which
// rows may be compared, what makes a series of nights another one) asks for the role and keeps no list of
// names.
enum class Role {
  identity,     // how the row trains: with another value it is another configuration
  sizing,       // how much work that is: figures of different sizes are not compared
  descriptive,  // what is said of the row, the article's figures among it
  measurement,  // what is measured, or drawn anew, without changing how the row trains
  derived       // follows from other fields and the scale
};

struct Field {
  const char* name;
  Member member;
  Role role = Role::identity;
  const char* unit = "";
  const char* help;                       // meaning, one line
  double min = 0, max = 1e18;             // numbers only, both ends allowed
  std::vector<std::string> choices = {};  // strings only; empty: any text, or the values of `axis`
  const char* axis = nullptr;  // an axis of the matrix: allowed values are what train_slice registers
  // Strings with a syntax: what should be there instead, empty for a good one.
  std::string (*problem)(const std::string&) = nullptr;
  bool gpus_only = false;  // means nothing on another device
};

const std::vector<Field>& fields();
const Field* find_field(const std::string& name);  // null when there is none
bool has_role(const std::string& field, Role role);

// A field's value as text, numbers as JSON writes them: for what treats all fields alike.
std::string field_text(const Row& row, const Field& field);
std::string field_text(const Row& row, const std::string& field);  // throws std::out_of_range for no field
double field_number(const Row& row, const std::string& field);     // 0 for text

nlohmann::json to_json(const Row& row);
Row row_from_json(const nlohmann::json& object);

template <>
inline nlohmann::json encode(const Row& row) {
  return to_json(row);
}
// Throws Violation, for a field that this program does not know too.
template <>
Row decode(const nlohmann::json& object, const std::string& at);

}  // namespace harness
