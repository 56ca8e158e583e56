#include "harness/probe.h"

#include "harness/base/file.h"
#include "harness/base/json_text.h"
#include "harness/child_process.h"

namespace harness {

using nlohmann::json;

json probe(const Workshop& workshop, const Row& row, const std::string& what, const fs::path& folder,
           int* exit_code) {
  const fs::path job = folder / "probe.json";
  const json content = {{"row", to_json(row)},
                        {"index", ""},
                        {"packed", json::object()},
                        {"progress", ""},
                        {"directory", folder}};
  base::write_whole_file(job, content.dump(), /*durable=*/false);
  const Finished finished =
      run_to_end({{workshop.train_slice, "--probe-" + what, "--job", job}, {}, {}, {}, {}});
  if (exit_code) *exit_code = finished.exit_code;
  const json answer = base::parse_json(finished.output);
  return finished.exit_code == 0 && answer.is_object() ? answer : json();
}

}  // namespace harness
