#include "harness/plan/probe.h"

#include "harness/base/child_process.h"
#include "harness/base/json_text.h"
#include "harness/contract/job.h"

namespace harness {

using nlohmann::json;

json probe(const Installation& installation, const Row& row, const std::string& what, const fs::path& folder,
           int* exit_code) {
  const fs::path file = folder / "probe.json";
  Job job;
  job.row = row;
  job.directory = folder;
  write_job(file, job);
  const base::Finished finished =
      base::run_to_end({{installation.train_slice, "--probe-" + what, "--job", file}, {}, {}, {}, {}});
  if (exit_code) *exit_code = finished.exit_code;
  const json answer = base::parse_json(finished.output);
  return finished.exit_code == 0 && answer.is_object() ? answer : json::object();
}

}  // namespace harness
