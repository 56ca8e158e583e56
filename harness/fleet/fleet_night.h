// The figures of one night of all hosts, beside the other hosts of that night and beside the host's own past.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace harness {

struct FleetHost {
  std::string name, hardware;                 // hardware: the machine's fingerprint; equal ones are compared
  std::map<std::string, std::string> labels;  // of HISTORY/hosts.csv: rack, switch, ...
};

// One figure of one host: of a row's metric, of a phase of it, or of a canary.
struct FleetFigure {
  size_t host = 0, series = 0;  // places in FleetNight
  double value = 0;
  double past_ratio = 0;   // median over earlier nights of value / the fleet's median of that night; 0: none
  size_t past_nights = 0;  // nights that is of
};

struct FleetSeries {
  std::string row;   // or the canary's name
  std::string kind;  // metric, phase or canary
  std::string name;  // of the metric or phase; empty for a canary
  std::string hardware;
  double median = 0;  // of the hosts with this hardware tonight
};

struct FleetNight {
  std::string night;  // 2026-01-31
  size_t nights = 0;  // earlier ones that were looked at
  std::vector<FleetHost> hosts;
  std::vector<FleetSeries> series;
  std::vector<FleetFigure> figures;
  std::vector<std::string> missing;  // hosts of the earlier nights without one tonight
};

// Read by parquet_history.py through DuckDB. `night`: a date; empty: the latest. Throws std::runtime_error
// with the next step if that fails.
FleetNight read_fleet_night(const std::filesystem::path& history, const std::string& night,
                            int64_t earlier_nights, const std::filesystem::path& project);

}  // namespace harness
