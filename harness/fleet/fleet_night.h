// `fleet`: the figures of one night of all hosts, which hosts are slow and in which part of their work, and
// how that is shown.
#pragma once
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/contract/codec.h"
#include "harness/report/summary/grid.h"

namespace harness {

struct FleetHost {
  std::string name, hardware;
  std::map<std::string, std::string> labels;
  KEYS(FleetHost, Key{"host", &Self::name, "its name", Presence::required},
       REQUIRED(hardware, "the machine's fingerprint; equal ones are compared"),
       REQUIRED(labels, "of HISTORY/hosts.csv: rack, switch, ..."));
};

// One figure of one host: of a row's metric, of a phase of it, or of a canary.
struct FleetFigure {
  static constexpr bool kAsList = true;
  size_t host = 0, series = 0;
  double value = 0, past_ratio = 0;
  size_t past_nights = 0;
  KEYS(FleetFigure, REQUIRED(host, "place in FleetNight"), REQUIRED(series, "place in FleetNight"),
       REQUIRED(value, "in the unit of its series"),
       REQUIRED(past_ratio,
                "median over earlier nights of value / the fleet's median of that night; 0: none"),
       REQUIRED(past_nights, "nights that this is of"));
};

struct FleetSeries {
  std::string row, kind, name, hardware;
  double median = 0;
  KEYS(FleetSeries, REQUIRED(row, "or the canary's name"), REQUIRED(kind, "metric, phase or canary"),
       REQUIRED(name, "of the metric or phase; empty for a canary"), REQUIRED(hardware, "as of hosts"),
       REQUIRED(median, "of the hosts with this hardware tonight"));
};

// As parquet_history.py prints it.
struct FleetNight {
  std::string night;
  size_t nights = 0;
  std::vector<FleetHost> hosts;
  std::vector<FleetSeries> series;
  std::vector<FleetFigure> figures;
  std::vector<std::string> missing;
  KEYS(FleetNight, REQUIRED(night, "2026-01-31"), REQUIRED(nights, "earlier ones that were looked at"),
       REQUIRED(hosts, "those with a night"), REQUIRED(series, "of their figures"),
       REQUIRED(figures, "of each host"),
       REQUIRED(missing, "hosts of the earlier nights without one tonight"));
};

// Read by parquet_history.py through DuckDB. `night`: a date; empty: the latest. Throws std::runtime_error
// with the next step if that fails.
FleetNight read_fleet_night(const std::filesystem::path& history, const std::string& night,
                            int64_t earlier_nights, const std::filesystem::path& project);

// A part of a host's work that is slower than that of other hosts tonight, or than it was on earlier nights.
struct SlowPart {
  std::string
      part;  // loading, copying, computing, link, other; whole: seconds of rows, where no part is slow
  bool of_past = false;                 // against the host's own past; else against the other hosts
  double ratio = 1, low = 1, high = 1;  // above 1: slower; 95 % interval
  double p = 1;                         // one-sided
};

struct SlowHost {
  size_t host = 0;              // place in FleetNight::hosts
  std::vector<SlowPart> parts;  // the slowest first
  double cost = 0;              // share by which its rows took longer than those of the other hosts
};

// Hosts with the same label, most of which are slow in the same part.
struct SlowGroup {
  std::string label, value;
  size_t hosts = 0;
  SlowPart part;
};

struct FleetVerdict {
  std::vector<SlowHost> hosts;       // those that cost most first; without what their group explains
  std::vector<SlowGroup> groups;     // the slowest first
  size_t judged = 0;                 // hosts
  std::vector<std::string> remarks;  // hosts that could not be judged, and why
  // Of each judged host: by how much each part is slower than the median host of its hardware, as a
  // logarithm.
  std::vector<std::map<std::string, double>> levels;
};

// A host's part is the mean of the logarithms of all its figures (rows, phases, canaries) against the fleet's
// median, each weighted by one over its variance between hosts (robust_deviation() of stats). The same is
// done for that ratio against its own median of earlier nights, so that what is slow on all hosts on one
// night (a season, an update) is no host's fault. How far hosts scatter in the combined figure is measured
// too, since figures of one host aren't independent. p is Student's t of it (experiment/outlier.h), corrected
// over hosts, parts and both questions by the false discovery rate at kFalseHosts.
FleetVerdict judge_fleet(const FleetNight& night);

// One sentence: how many hosts are slow, and of how many.
std::string fleet_sentence(const FleetNight& night, const FleetVerdict& verdict);
Grid slow_groups_grid(const FleetVerdict& verdict);
Grid slow_hosts_grid(const FleetNight& night, const FleetVerdict& verdict);
// {night, judged, hosts: [{host, part, against, percent, low, high, cost_percent}], groups: [...], missing,
// remarks}
nlohmann::json fleet_json(const FleetNight& night, const FleetVerdict& verdict);

// Throws std::runtime_error if it can't be written.
void write_fleet_page(const std::filesystem::path& file, const FleetNight& night, const FleetVerdict& verdict,
                      const std::filesystem::path& project);

}  // namespace harness
