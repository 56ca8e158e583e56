// Progress of a long job on stderr: on a terminal one line that is rewritten, otherwise a line every 5 s.
#pragma once
#include <cstdint>
#include <string>

#include "harness/base/stopwatch.h"

namespace bench {

class ProgressLine {
 public:
  ProgressLine(std::string what, int64_t total);
  ~ProgressLine();  // ends the line
  // Not thread-safe. Cheap enough to call for every image.
  void update(int64_t done, int64_t bytes);

 private:
  std::string what_;
  int64_t total_;
  bool terminal_;
  bool shown_ = false;
  const base::Stopwatch watch_;
  double last_s_ = 0;
};

}  // namespace bench
