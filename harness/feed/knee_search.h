// Finds by measuring how many devices are fed: utilisation falls as their number grows.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "harness/report/summary/feed_answer.h"

namespace harness {

// Utilisation (0-1) with so many devices, measured once; nullopt: no figure, and the search ends.
using MeasureUtilisation = std::function<std::optional<double>(double devices)>;

struct SearchRule {
  double pass = kFedFrom;
  double tolerance = 0.05;  // the search ends when its two ends differ by less than this share
  double near = 0.03;       // a number this close to `pass` is measured again, and the median decides
  int repeats = 3;          // at most, for such a number
  double most = 1e6;        // larger numbers are not tried
  double least = 1e-3;      // nor smaller ones
};

// What was measured, by number of devices. Decides whether a number is fed by the median of its measurements.
class Utilisations {
 public:
  Utilisations(MeasureUtilisation measure, SearchRule rule);
  // Measures unless it is decided already. Nullopt when a measurement gave no figure.
  std::optional<bool> fed(double devices);
  double median(double devices) const;  // of a number that fed() has decided
  // Measures again, up to rule.repeats times each, while a number is fed although a smaller one isn't: one of
  // the two was disturbed. Returns false when a measurement gave no figure.
  bool settle();
  const std::map<double, std::vector<double>>& all() const { return all_; }
  const SearchRule& rule() const { return rule_; }

 private:
  MeasureUtilisation measure_;
  SearchRule rule_;
  std::map<double, std::vector<double>> all_;
};

// The ends between which the knee lies. `fed` is empty when no number down to rule.least is fed, `not_fed`
// when every number up to rule.most is. `complete`: the ends are as close as the tolerance asks, or one is
// empty.
struct Knee {
  std::optional<double> fed, not_fed;
  bool complete = false;
};

// Brackets the knee from `guess` on, then narrows it: first where a loader of constant speed would have it
// (utilisation is then inversely proportional to the number), then by halving the ratio of the two ends.
Knee find_knee(Utilisations& utilisations, double guess);

// The largest whole number that is fed, confirmed by measuring it and one more, from what `knee` says on;
// 0: one device is not fed. Nullopt when a measurement is missing, or when there is none to confirm.
std::optional<int64_t> confirm_whole_number(Utilisations& utilisations, const Knee& knee);

}  // namespace harness
