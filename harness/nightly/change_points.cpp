// Sends all series as JSON to a Python script, and checks its answer.
#include "harness/nightly/change_points.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "harness/base/child_process.h"
#include "harness/base/json_text.h"

namespace harness {

using nlohmann::json;

// A file in memory for the program's stdin. Writing to a pipe would block when its buffer is full.
static int memory_file(const std::string& text) {
  const int file = memfd_create("series", MFD_CLOEXEC);
  for (size_t done = 0; file >= 0 && done < text.size();) {
    const ssize_t wrote = write(file, text.data() + done, text.size() - done);
    if (wrote <= 0) throw std::runtime_error("out of memory for the series of the history");
    done += static_cast<size_t>(wrote);
  }
  lseek(file, 0, SEEK_SET);
  return file;
}

std::vector<std::vector<ChangePoint>> find_change_points(const std::vector<Series>& series,
                                                         const std::filesystem::path& source_dir) {
  json asked = {{"window", 50}, {"p", 0.001}, {"series", json::array()}};
  for (const Series& one : series)
    asked["series"].push_back({{"values", one.values}, {"magnitude", one.magnitude}});
  base::Command command;
  command.arguments = {source_dir / ".venv/bin/python", source_dir / "harness/nightly/change_points.py"};
  command.input_fd = memory_file(asked.dump());
  base::Finished finished;
  try {
    finished = base::run_to_end(command);
  } catch (const std::runtime_error& error) {
    finished = {127, error.what()};
  }
  close(command.input_fd);
  const json found = base::parse_json(finished.output);
  if (finished.exit_code != 0 || !found.is_array() || found.size() != series.size())
    throw std::runtime_error(
        fmt::format("change points were not searched: {} ended with exit code {}; run ./run_matrix once "
                    "without --no-install, then `./run_matrix history trend` searches again",
                    command.arguments[1], finished.exit_code));
  return decode<std::vector<std::vector<ChangePoint>>>(found);
}

}  // namespace harness
