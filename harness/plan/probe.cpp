// Runs train_slice as a child process, and divides the batches by powers of two until they fit into memory.
#include "harness/plan/probe.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

#include "harness/base/child_process.h"
#include "harness/base/json_text.h"
#include "harness/base/process_limits.h"
#include "harness/base/scratch.h"
#include "harness/contract/job.h"
#include "harness/contract/precision_traits.h"

namespace harness {

LargestBatch largest_batch(const std::function<bool(int64_t images)>& fits) {
  LargestBatch found;
  for (int64_t images = 1; images <= kMostImagesTried; images *= 2) {
    if (!fits(images)) {
      found.too_many = images;
      break;
    }
    found.images = images;
  }
  while (found.too_many && *found.too_many - found.images > 1) {
    const int64_t middle = found.images + (*found.too_many - found.images) / 2;
    if (fits(middle))
      found.images = middle;
    else
      found.too_many = middle;
  }
  return found;
}

constexpr int64_t kMostDivisor = 1024;

// The row with the most images per device; among equals one in float32.
static const Row* most_demanding(const std::vector<Row>& rows) {
  const Row* most = nullptr;
  const auto need = [](const Row& row) {
    return std::pair(images_per_device(row), !precision_traits(row.precision).sixteen_bit());
  };
  for (const Row& row : rows)
    if (row.device == "cuda" && (!most || need(*most) < need(row))) most = &row;
  return most;
}

bool probe_memory(const Installation& installation, Job job, const fs::path& folder) {
  const std::optional<int64_t> kills = base::process_limits().oom_kills;
  const fs::path file = folder / "probe.json";
  job.directory = folder;
  write_job(file, job);
  const base::Finished finished =
      base::run_to_end({{installation.train_slice, "--probe-memory", "--job", file}});
  const int exit_code = finished.exit_code;
  const nlohmann::json answer = base::parse_json(finished.output);
  if (exit_code == 0 && answer.is_object() && !answer.empty()) return decode<MemoryProbe>(answer).fits;
  if (exit_code == 128 + SIGKILL && kills && base::process_limits().oom_kills > kills) return false;
  throw PreparationError(fmt::format(
      "{} --probe-memory, which trains row {} on {} images a device, {}{}", installation.train_slice.string(),
      job.row.id, images_per_device(job.row), base::ended_in_words(exit_code),
      exit_code > 128
          ? "; expected to meet its own limit before one of this job, container or machine: raise "
            "that limit, or leave more memory free"
          : "; its own words are above"));
}

// The rows at the scale; empty when a batch can't be divided by it: a remainder, or a device without an
// image.
static std::vector<Row> divided(const std::function<std::vector<Row>(const Scale&)>& rows_at,
                                const Scale& scale) try {
  return rows_at(scale);
} catch (const ConfigError&) {
  return {};
}

void fit_to_memory(const Installation& installation, Scale& scale,
                   const std::function<std::vector<Row>(const Scale&)>& rows_at) {
  const base::Scratch scratch;
  Scale tried = scale;
  for (int64_t divisor = 1; divisor <= kMostDivisor; divisor *= 2) {
    tried.batch_divisor = scale.batch_divisor * divisor;
    const std::vector<Row> rows = divisor == 1 ? rows_at(tried) : divided(rows_at, tried);
    if (rows.empty()) break;
    const Row* row = most_demanding(rows);
    if (!row) return;
    Job job;
    job.row = *row;
    try {
      if (!probe_memory(installation, job, scratch.path())) continue;
    } catch (const PreparationError& error) {
      throw PreparationError(
          fmt::format("{}; --scale auto needs it: name a scale, e.g. --scale article", error.what()));
    }
    if (divisor > 1) {
      tried.name += fmt::format("/{}", divisor);
      tried.summary +=
          fmt::format(", but batches / {}: {} images of row {} are the most that fit into a GPU's memory",
                      divisor, images_per_device(*row), row->id);
    }
    scale = tried;
    return;
  }
  throw PreparationError(
      "--scale auto: even the smallest batches of the rows don't fit into this GPU's memory; free it "
      "(nvidia-smi shows what uses it), or run on the processor with --device cpu");
}

}  // namespace harness
