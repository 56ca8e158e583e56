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

// A number of devices so close to kFedFrom is measured again, so often at most, and the median decides.
inline constexpr double kNearLimit = 0.03;
inline constexpr size_t kMostRepeats = 3;

// What was measured, by number of devices. Decides whether a number is fed by the median of its measurements.
class Utilisations {
 public:
  explicit Utilisations(MeasureUtilisation measure) : measure_(std::move(measure)) {}
  // Measures unless it is decided already, by at least so many measurements; by up to kMostRepeats near the
  // limit, and where they disagree. Nullopt when a measurement gave no figure.
  std::optional<bool> fed(double devices, size_t least = 1);
  double median(double devices) const;  // of a number that fed() has decided
  // Measures again, up to kMostRepeats times each, while a number is fed although a smaller one isn't: one of
  // the two was disturbed. Returns false when a measurement gave no figure.
  bool settle();

 private:
  MeasureUtilisation measure_;
  std::map<double, std::vector<double>> all_;
};

// The largest whole number that is fed, confirmed by measuring it and one more; 0: one device is not fed.
// `guess`: by the loader's rate. Nullopt when a measurement is missing or the numbers don't settle.
std::optional<int64_t> confirm_whole_number(Utilisations& utilisations, double guess);

}  // namespace harness
