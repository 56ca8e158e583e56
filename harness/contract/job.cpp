// Reads and writes the job as JSON; errors name the file.
#include "harness/contract/job.h"

#include <fmt/format.h>

#include "harness/base/file.h"
#include "harness/base/json_text.h"

namespace harness {

Job read_job(const std::filesystem::path& file) try {
  return decode<Job>(base::require_json(base::read_file(file)));
} catch (const std::exception& error) {
  throw std::runtime_error(fmt::format("{}: not a job file of run_matrix: {}", file.string(), error.what()));
}

void write_job(const std::filesystem::path& file, const Job& job) {
  base::write_whole_file(file, encode(job).dump(1) + '\n', /*durable=*/false);
}

}  // namespace harness
