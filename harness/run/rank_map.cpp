#include "harness/run/rank_map.h"

#include <fmt/format.h>

#include <vector>

namespace harness {

// 0, 1, 2, 5 -> "0-2,5"
static std::string ranges(const std::vector<int64_t>& numbers) {
  std::string text;
  for (size_t first = 0, last; first < numbers.size(); first = last + 1) {
    for (last = first; last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1;) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(numbers[first]);
    if (last > first) text += "-" + std::to_string(numbers[last]);
  }
  return text;
}

std::string rank_map_text(const std::vector<RankPlace>& rank_map) {
  std::string text;
  for (size_t first = 0, last; first < rank_map.size(); first = last + 1) {
    const RankPlace& place = rank_map[first];
    for (last = first; last + 1 < rank_map.size();) {
      const RankPlace& next = rank_map[last + 1];
      if (next.host != place.host || next.cpus != place.cpus) break;
      ++last;
    }
    text += fmt::format("{}{} on {} ({}{}, cores {})",
                        text.empty() ? (rank_map.size() > 1 ? "ranks " : "rank ") : ", ",
                        last > first ? fmt::format("{}-{}", first, last) : std::to_string(first), place.host,
                        place.device, last > first ? " to " + rank_map[last].device : "", ranges(place.cpus));
  }
  return text;
}

}  // namespace harness
