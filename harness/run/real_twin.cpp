// Resets all fields that don't affect training, and applies the smallest scale to the others.
#include "harness/run/real_twin.h"

namespace harness {

using nlohmann::json;

// Fields that say how images are loaded, hardware is emulated or time is measured, not how the row trains.
constexpr const char* kNoTraining[] = {"window",
                                       "device_file",
                                       "time_scale",
                                       "core_images_per_s",
                                       "wire",
                                       "wire_divisor",
                                       "link_rate_mbit",
                                       "loader",
                                       "command",
                                       "compare_pixels",
                                       "cache",
                                       "readahead",
                                       "read_rate",
                                       "read_latency_ms",
                                       "store_rate_mbit",
                                       "store_latency_ms",
                                       "handing_over",
                                       "pin_loader_threads",
                                       "learning_rate_schedule",
                                       "learning_rate_warmup",
                                       "collectives",
                                       "validation",
                                       "phase_clock",
                                       "momentum",
                                       "malloc",
                                       "jpeg_simd",
                                       "host_work_ms",
                                       "needless",
                                       "retain_graph"};
constexpr const char* kOrder[] = {"order", "interleave", "shuffle_window"};

// Images per device of the one batch. A micro-batch has two at least, because batch norm needs more than one.
static int64_t images_of_steps(const Row& row) {
  constexpr int64_t kImages = 8;
  const int64_t parts = row.accumulation * row.pipeline_micro_batches;
  return parts * std::max<int64_t>(2, (kImages + parts - 1) / parts);
}

Row real_twin(const Row& row, RealWork work, const Scale& scale, const Scale& smallest, bool keeps_storage,
              const AxisValues& values) {
  static const json usual = to_json(Row());
  json trained = to_json(row);
  const auto reset = [&](const char* field) { trained[field] = usual[field]; };
  for (const Field& field : fields())
    if (field.acts_on != ActsOn::all) reset(field.name);
  for (const char* field : kNoTraining) reset(field);
  const bool slice = work == RealWork::slice;
  if (!slice || !keeps_storage)
    for (const char* field : kOrder) reset(field);
  Row twin = row_from_json(trained);
  apply(smallest, twin, values);
  twin.id = row.id + (slice ? "-slice" : "-trained");
  twin.device = "cpu";
  twin.cache = "as_is";
  twin.cpus = twin.loader_threads = smallest.c0;
  twin.warmup_batches = twin.ceiling_batches = 0;
  if (slice) {
    if (!keeps_storage) twin.storage = "raw";
    twin.timed_batches = row.timed_batches;
    twin.batch = std::max(row.batch * batch_divisor_of(row, scale) / batch_divisor_of(row, smallest),
                          all_devices(row) * row.accumulation * row.pipeline_micro_batches);
    return twin;
  }
  twin.storage = "synthetic";
  twin.ring_depth = 1;  // so that every batch is the same
  twin.timed_batches = kRealSteps;
  twin.learning_rate = kRealLearningRate;
  twin.batch = all_devices(row) * images_of_steps(row);
  return twin;
}

std::string work_of(const Row& twin) {
  json work = to_json(twin);
  for (const Field& field : fields())
    if (field.role == Role::descriptive) work.erase(field.name);
  return work.dump();
}

}  // namespace harness
