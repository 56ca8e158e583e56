#include "harness/feed/knee_search.h"

#include <algorithm>
#include <cmath>

#include "harness/stats/statistics.h"

namespace harness {

Utilisations::Utilisations(MeasureUtilisation measure, SearchRule rule)
    : measure_(std::move(measure)), rule_(rule) {}

double Utilisations::median(double devices) const { return harness::median(all_.at(devices)); }

std::optional<bool> Utilisations::fed(double devices) {
  std::vector<double>& measured = all_[devices];
  const auto unclear = [&] {
    return measured.empty() || (measured.size() < size_t(rule_.repeats) &&
                                std::abs(harness::median(measured) - rule_.pass) < rule_.near);
  };
  while (unclear()) {
    const std::optional<double> utilisation = measure_(devices);
    if (!utilisation) break;
    measured.push_back(*utilisation);
  }
  if (measured.empty()) all_.erase(devices);
  if (!all_.count(devices) || unclear()) return std::nullopt;
  return median(devices) >= rule_.pass;
}

bool Utilisations::settle() {
  const auto is_fed = [&](double devices) { return median(devices) >= rule_.pass; };
  const auto can_repeat = [&](double devices) { return all_.at(devices).size() < size_t(rule_.repeats); };
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

namespace {

constexpr double kGrowth = 1.5;  // from one number to the next while the knee has only one end
constexpr int kGuided = 4;       // numbers chosen by the loader's speed before halving alone

// The number to try next; nullopt when the knee is found.
std::optional<double> next_number(const Knee& knee, const Utilisations& utilisations, double guess,
                                  int tried) {
  const SearchRule& rule = utilisations.rule();
  const double step = std::sqrt(1 + rule.tolerance) * 0.999;  // two steps are within the tolerance
  if (knee.not_fed) guess = *knee.not_fed * utilisations.median(*knee.not_fed) / rule.pass;
  if (!knee.fed && !knee.not_fed) return std::clamp(guess / step, rule.least, rule.most);
  if (!knee.fed) {
    if (*knee.not_fed <= rule.least) return std::nullopt;
    return std::max(rule.least, tried < kGuided ? guess / step : *knee.not_fed / kGrowth);
  }
  if (!knee.not_fed) {
    if (*knee.fed >= rule.most) return std::nullopt;
    const double above = guess * step;
    return std::min(rule.most, above > *knee.fed ? above : *knee.fed * kGrowth);
  }
  if (*knee.not_fed / *knee.fed <= 1 + rule.tolerance) return std::nullopt;
  for (const double number : {guess / step, guess * step})
    if (tried < kGuided && number > *knee.fed * 1.001 && number < *knee.not_fed / 1.001) return number;
  return std::sqrt(*knee.fed * *knee.not_fed);
}

}  // namespace

Knee find_knee(Utilisations& utilisations, double guess) {
  Knee knee;
  for (int tried = 0;; ++tried) {
    const std::optional<double> number = next_number(knee, utilisations, guess, tried);
    knee.complete = !number;
    if (!number) return knee;
    const std::optional<bool> fed = utilisations.fed(*number);
    if (!fed) return knee;
    (*fed ? knee.fed : knee.not_fed) = number;
  }
}

std::optional<int64_t> confirm_whole_number(Utilisations& utilisations, const Knee& knee) {
  constexpr int kMostSteps = 6;  // noise moves the number by one or two
  if (!knee.not_fed) return std::nullopt;
  int64_t number = int64_t(std::floor(knee.fed.value_or(0)));
  for (int64_t above = int64_t(std::ceil(*knee.not_fed)); above - number > 1;) {
    const int64_t middle = (number + above) / 2;
    const std::optional<bool> fed = utilisations.fed(double(middle));
    if (!fed) return std::nullopt;
    (*fed ? number : above) = middle;
  }
  for (int step = 0; step < kMostSteps; ++step) {
    const std::optional<bool> fed = number == 0 ? true : utilisations.fed(double(number));
    if (!fed) return std::nullopt;
    if (!*fed) {
      --number;
      continue;
    }
    const std::optional<bool> one_more = utilisations.fed(double(number + 1));
    if (!one_more) return std::nullopt;
    if (*one_more) {
      ++number;
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
