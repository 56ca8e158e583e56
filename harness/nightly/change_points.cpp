// Sends all series as JSON to a Python script, and checks its answer.
#include "harness/nightly/change_points.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "harness/base/child_process.h"
#include "harness/base/file.h"
#include "harness/base/json_text.h"
#include "harness/base/scratch.h"

namespace harness {

using nlohmann::json;

std::vector<std::vector<ChangePoint>> find_change_points(const std::vector<Series>& series,
                                                         const std::filesystem::path& source_dir) {
  json asked = {{"window", 50}, {"p", 0.001}, {"series", json::array()}};
  for (const Series& one : series)
    asked["series"].push_back({{"values", one.values}, {"magnitude", one.magnitude}});
  const base::Scratch folder;
  base::write_whole_file(folder.path() / "series.json", asked.dump(), /*durable=*/false);
  base::Command command;
  command.arguments = {source_dir / ".venv/bin/python", source_dir / "harness/nightly/change_points.py",
                       folder.path() / "series.json"};
  base::Finished finished;
  try {
    finished = base::run_to_end(command);
  } catch (const std::runtime_error& error) {
    finished = {127, error.what()};
  }
  const json found = base::parse_json(finished.output);
  if (finished.exit_code != 0 || !found.is_array() || found.size() != series.size())
    throw std::runtime_error(
        fmt::format("change points were not searched: {} ended with exit code {}; run ./run_matrix once "
                    "without --no-install, then `./run_matrix history trend` searches again",
                    command.arguments[1], finished.exit_code));
  return decode<std::vector<std::vector<ChangePoint>>>(found);
}

}  // namespace harness
