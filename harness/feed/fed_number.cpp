// Repeats measurements near the limit, and searches for a number that is fed while one more is not.
#include "harness/feed/fed_number.h"

#include <algorithm>
#include <cmath>

#include "harness/stats/statistics.h"

namespace harness {

double Utilisations::median(double devices) const { return harness::median(all_.at(devices)); }

std::optional<bool> Utilisations::fed(double devices, size_t least) {
  std::vector<double>& measured = all_[devices];
  const auto unclear = [&] {
    if (measured.size() < least) return true;
    const auto [low, high] = std::ranges::minmax_element(measured);
    return measured.size() < kMostRepeats &&
           (std::abs(harness::median(measured) - kFedFrom) < kNearLimit || *high - *low > kNearLimit);
  };
  while (unclear()) {
    const std::optional<double> utilisation = measure_(devices);
    if (!utilisation) break;
    measured.push_back(*utilisation);
  }
  if (measured.empty()) all_.erase(devices);
  if (!all_.count(devices) || unclear()) return std::nullopt;
  return median(devices) >= kFedFrom;
}

bool Utilisations::settle() {
  const auto is_fed = [&](double devices) { return median(devices) >= kFedFrom; };
  const auto can_repeat = [&](double devices) { return all_.at(devices).size() < kMostRepeats; };
  for (;;) {
    std::optional<double> doubtful;  // of a contradicting pair, the number with fewer measurements
    for (const auto& [fewer, less] : all_)
      for (const auto& [more, greater] : all_)
        if (fewer < more && !is_fed(fewer) && is_fed(more)) {
          if (can_repeat(fewer) && (less.size() <= greater.size() || !can_repeat(more))) doubtful = fewer;
          if (can_repeat(more) && !doubtful) doubtful = more;
        }
    if (!doubtful) return true;
    const std::optional<double> utilisation = measure_(*doubtful);
    if (!utilisation) return false;
    all_.at(*doubtful).push_back(*utilisation);
  }
}

std::optional<int64_t> confirm_whole_number(Utilisations& utilisations, double guess) {
  constexpr int kMostSteps = 12;
  int64_t number = std::max<int64_t>(0, int64_t(guess));
  for (int step = 0; step < kMostSteps; ++step) {
    const std::optional<bool> fed = number == 0 ? true : utilisations.fed(double(number));
    if (!fed) return std::nullopt;
    if (!*fed) {  // with a loader of constant speed, utilisation is inversely proportional to the number
      const double speed = double(number) * utilisations.median(double(number));
      number = std::min(number - 1, int64_t(speed / kFedFrom));
      continue;
    }
    // Twice: another program makes a number seem not fed, but none makes it seem fed.
    const std::optional<bool> one_more = utilisations.fed(double(number + 1), 2);
    if (!one_more) return std::nullopt;
    if (*one_more) {
      number += std::max<int64_t>(1, number / 10);
      continue;
    }
    if (!utilisations.settle()) return std::nullopt;
    if ((number == 0 || utilisations.fed(double(number)) == true) &&
        utilisations.fed(double(number + 1)) == false)
      return number;
  }
  return std::nullopt;
}

}  // namespace harness
