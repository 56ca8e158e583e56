#include "bench/job.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/base/file.h"
#include "harness/base/json_text.h"

namespace bench {

Job read_job(const std::filesystem::path& file) try {
  const auto object = base::require_json(base::read_file(file));
  Job job;
  job.row = harness::row_from_json(object.at("row"));
  job.index = object.at("index").get<std::string>();
  for (const auto& [storage, location] : object.at("packed").items())
    job.packed[storage] = location.get<std::string>();
  job.validation = object.value("validation", "");
  job.progress = object.at("progress").get<std::string>();
  job.interface = object.value("interface", "");
  job.server_counter = object.value("server_counter", "");
  job.emulated_link = object.value("emulated_link", false);
  if (object.contains("trace")) {
    job.trace_first = object["trace"].at("first");
    job.trace_last = object["trace"].at("last");
  }
  job.directory = object.at("directory").get<std::string>();
  return job;
} catch (const std::exception& error) {
  throw std::runtime_error(fmt::format("{}: not a job of run_matrix: {}", file.string(), error.what()));
}

}  // namespace bench
