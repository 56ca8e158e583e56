// Carriers of the suite beside bare ones, over the repetitions of a benchmark.
#pragma once
#include <cstdio>
#include <string>
#include <vector>

#include "bench/micro/collectives/lockstep.h"

namespace bench {

class Comparison {
 public:
  // One run's median call over the bare carrier's, whose calls lay between; kept for print. Shorter runs of
  // the same name are forgotten: Google Benchmark finds a benchmark's number of calls with them.
  double add(const std::string& name, const Times& times);
  // A line for each name: median and range over its runs.
  void print(std::FILE* file) const;

 private:
  struct Ratios {
    std::string name;
    size_t calls = 0;
    std::vector<double> ratios, seconds, bare_seconds;  // one of each run
  };
  std::vector<Ratios> all_;
};

}  // namespace bench
