// Asks parquet_history.py for a night's figures and checks its answer.
#include "harness/fleet/fleet_night.h"

#include <fmt/format.h>

#include <cmath>

#include "harness/base/child_process.h"
#include "harness/base/json_text.h"
#include "harness/nightly/history.h"

namespace harness {

static FleetNight checked(FleetNight night) {
  for (const FleetSeries& series : night.series)
    if (!(series.median > 0)) throw std::runtime_error("a median that is not positive");
  for (const FleetFigure& figure : night.figures)
    if (figure.host >= night.hosts.size() || figure.series >= night.series.size())
      throw std::runtime_error("a figure of no host or series");
  std::erase_if(night.figures,
                [](const FleetFigure& it) { return !(it.value > 0 && std::isfinite(it.value)); });
  return night;
}

FleetNight read_fleet_night(const std::filesystem::path& history, const std::string& night,
                            int64_t earlier_nights, const std::filesystem::path& project) {
  base::Command command = parquet_history(project, "fleet", history);
  command.arguments.insert(command.arguments.end(), {"--nights", std::to_string(earlier_nights)});
  if (!night.empty()) command.arguments.insert(command.arguments.end(), {"--night", night});
  const base::Finished finished = base::run_to_end(command);
  if (finished.exit_code != 0)  // the reason is on stderr
    throw std::runtime_error(fmt::format(
        "{}: the history could not be read: {} {}; if Python lacks a package, run ./run_matrix once without "
        "--no-install",
        history.string(), command.arguments[1], base::ended_in_words(finished.exit_code)));
  try {
    return checked(decode<FleetNight>(base::require_json(finished.output)));
  } catch (const std::exception& error) {
    throw std::runtime_error(fmt::format("{}: {} answered what is no night of a fleet: {}", history.string(),
                                         command.arguments[1], error.what()));
  }
}

}  // namespace harness
