// Finds lasting changes in a series with Apache Otava (E-divisive).
#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/contract/codec.h"
#include "harness/experiment/policy/policy.h"

namespace harness {

struct Series {
  std::string name;                    // only for messages
  std::vector<double> values;          // one per night, in order
  double magnitude = kSmallestMargin;  // smallest relative change
};

struct ChangePoint {
  size_t index = 0;              // first night after the change
  double before = 0, after = 0;  // means of the levels before and after
  double p = 1;                  // of Student's t test between the two levels

  double change() const { return after / before - 1; }
  static constexpr auto keys() {
    constexpr auto required = Presence::required;
    return known_keys(Key{"index", &ChangePoint::index, "of the first night after the change", required},
                      Key{"before", &ChangePoint::before, "mean", required},
                      Key{"after", &ChangePoint::after, "mean", required},
                      Key{"p", &ChangePoint::p, "of Student's t between them", required});
  }
};

// Returns one list per series. Window 50 and p 0.001 are Otava's defaults. `source_dir` contains
// harness/nightly/change_points.py and .venv/. Throws std::runtime_error with the next step if Otava fails.
std::vector<std::vector<ChangePoint>> find_change_points(const std::vector<Series>& series,
                                                         const std::filesystem::path& source_dir);

}  // namespace harness
