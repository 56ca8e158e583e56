// Which hosts are slow tonight, and in which part of their work.
#pragma once
#include <string>
#include <vector>

#include "harness/fleet/fleet_night.h"

namespace harness {

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
// too, since figures of one host aren't independent. p is Student's t of it, corrected over hosts, parts and
// both questions by the false discovery rate (Benjamini & Hochberg 1995) at kFalseHosts: of the hosts that
// are named, at most that share is named by chance.
FleetVerdict judge_fleet(const FleetNight& night);

}  // namespace harness
