// Confirms by measuring how many devices are fed: utilisation falls as their number grows.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "harness/report/summary/feed_answer.h"

namespace harness {

// Utilisation (0-1) with so many devices, measured once; nullopt: no figure, and nothing more is measured.
using MeasureUtilisation = std::function<std::optional<double>(double devices)>;

struct SearchRule {
  double pass = kFedFrom;
  double near = 0.03;  // a number this close to `pass` is measured again, and the median decides
  int repeats = 3;     // at most, for such a number
};

// What was measured, by number of devices. Decides whether a number is fed by the median of its measurements.
class Utilisations {
 public:
  Utilisations(MeasureUtilisation measure, SearchRule rule);
  // Measures unless it is decided already, by at least so many measurements; by up to rule.repeats near the
  // limit, and where they disagree. Nullopt when a measurement gave no figure.
  std::optional<bool> fed(double devices, size_t least = 1);
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

// The largest whole number that is fed, confirmed by measuring it and one more; 0: one device is not fed.
// `guess`: by the loader's rate. Nullopt when a measurement is missing or the numbers don't settle.
std::optional<int64_t> confirm_whole_number(Utilisations& utilisations, double guess);

}  // namespace harness
