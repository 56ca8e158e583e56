#include "bench/micro/collectives/comparison.h"

#include <fmt/format.h>

#include <algorithm>

namespace bench {

static double median(std::vector<double> values) {
  const size_t middle = values.size() / 2;
  std::sort(values.begin(), values.end());
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double Comparison::add(const std::string& name, const Times& times) {
  auto found =
      std::find_if(all_.begin(), all_.end(), [&](const Ratios& ratios) { return ratios.name == name; });
  if (found == all_.end() || times.calls.size() > found->calls) {
    if (found == all_.end()) found = all_.insert(all_.end(), Ratios());
    *found = {name, times.calls.size(), {}, {}, {}};
  }
  found->seconds.push_back(median(times.calls));
  found->bare_seconds.push_back(median(times.bare_calls));
  found->ratios.push_back(found->seconds.back() / found->bare_seconds.back());
  return found->ratios.back();
}

void Comparison::print(std::FILE* file) const {
  for (const Ratios& one : all_) {
    const auto [low, high] = std::minmax_element(one.ratios.begin(), one.ratios.end());
    fmt::print(file, "{} median {:.2f} ({:.2f} to {:.2f}); {:.1f} us / {:.1f} us; {} runs of {} calls\n",
               one.name, median(one.ratios), *low, *high, median(one.seconds) * 1e6,
               median(one.bare_seconds) * 1e6, one.ratios.size(), one.calls);
  }
}

}  // namespace bench
