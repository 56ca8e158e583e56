// Compares the suite's carriers with bare ones over the repetitions of a benchmark.
#pragma once
#include <cstdio>
#include <string>
#include <vector>

#include "bench/micro/collectives/lockstep.h"

namespace bench {

class Comparison {
 public:
  // Returns the ratio of the median call times, carrier / bare carrier, of one run (their calls alternate)
  // and stores it for print(). Discards shorter runs of the same name, with which Google Benchmark determines
  // the number of calls.
  double add(const std::string& name, const Times& times);
  // Prints a line per name: median and range over its runs.
  void print(std::FILE* file) const;

 private:
  struct Ratios {
    std::string name;
    size_t calls = 0;
    std::vector<double> ratios, seconds, bare_seconds;  // one per run
  };
  std::vector<Ratios> all_;
};

}  // namespace bench
