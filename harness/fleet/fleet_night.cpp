// Asks parquet_history.py for a night's figures and checks its answer.
#include "harness/fleet/fleet_night.h"

#include <fmt/format.h>

#include <cmath>

#include "harness/base/child_process.h"
#include "harness/base/json_text.h"
#include "harness/contract/codec.h"

namespace harness {

using nlohmann::json;

static std::string label_text(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// Columns of equal length, one entry per figure.
static std::vector<FleetFigure> figures_of(const json& columns, size_t hosts, size_t series) {
  const auto host = columns.at("host").get<std::vector<size_t>>(),
             of = columns.at("series").get<std::vector<size_t>>(),
             nights = columns.at("past_nights").get<std::vector<size_t>>();
  const auto value = columns.at("value").get<std::vector<double>>(),
             ratio = columns.at("past_ratio").get<std::vector<double>>();
  std::vector<FleetFigure> figures;
  figures.reserve(host.size());
  for (size_t i = 0; i < host.size(); ++i) {
    const FleetFigure figure{host[i], of.at(i), value.at(i), ratio.at(i), nights.at(i)};
    if (figure.host >= hosts || figure.series >= series)
      throw std::runtime_error("a figure of no host or series");
    if (figure.value > 0 && std::isfinite(figure.value)) figures.push_back(figure);
  }
  return figures;
}

static FleetNight night_of(const json& answer) {
  FleetNight night;
  night.night = answer.at("night");
  night.nights = answer.at("nights");
  night.missing = answer.at("missing").get<std::vector<std::string>>();
  for (const json& host : answer.at("hosts")) {
    FleetHost it{host.at("host"), host.at("hardware"), {}};
    for (const auto& [name, value] : host.at("labels").items())
      if (!value.is_null()) it.labels[name] = label_text(value);
    night.hosts.push_back(std::move(it));
  }
  for (const json& series : answer.at("series")) {
    night.series.push_back({series.at("row"), series.at("kind"), series.at("name"), series.at("hardware"),
                            series.at("median").get<double>()});
    if (!(night.series.back().median > 0)) throw std::runtime_error("a median that is not positive");
  }
  night.figures = figures_of(answer.at("figures"), night.hosts.size(), night.series.size());
  return night;
}

FleetNight read_fleet_night(const std::filesystem::path& history, const std::string& night,
                            int64_t earlier_nights, const std::filesystem::path& project) {
  base::Command command;
  command.arguments = {project / ".venv/bin/python",
                       project / "harness/nightly/parquet_history.py",
                       "fleet",
                       history,
                       "--nights",
                       std::to_string(earlier_nights)};
  if (!night.empty()) command.arguments.insert(command.arguments.end(), {"--night", night});
  const base::Finished finished = base::run_to_end(command);
  if (finished.exit_code != 0)  // the reason is on stderr
    throw std::runtime_error(fmt::format(
        "{}: the history could not be read: {} {}; if Python lacks a package, run ./run_matrix once without "
        "--no-install",
        history.string(), command.arguments[1], base::ended_in_words(finished.exit_code)));
  try {
    return night_of(base::require_json(finished.output));
  } catch (const std::exception& error) {
    throw std::runtime_error(fmt::format("{}: {} answered what is no night of a fleet: {}", history.string(),
                                         command.arguments[1], error.what()));
  }
}

}  // namespace harness
