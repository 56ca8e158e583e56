// Where a series of figures changed for good: E-divisive as Apache Otava has it.
#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace harness {

struct Series {
  std::string name;            // for messages alone
  std::vector<double> values;  // one a night, in their order
  double magnitude = 0.02;     // smallest relative change that counts
};

struct ChangePoint {
  size_t index = 0;              // of the first night after the change
  double before = 0, after = 0;  // means of the stretches on either side
  double p = 1;                  // of Student's t between them

  double change() const { return after / before - 1; }
};

// One list per series. Window 50 and p 0.001 are Otava's defaults. Throws std::runtime_error with the next
// step when Otava can't be run. `source_dir` holds harness/nightly/change_points.py and .venv/.
std::vector<std::vector<ChangePoint>> find_change_points(const std::vector<Series>& series,
                                                         const std::filesystem::path& source_dir);

}  // namespace harness
