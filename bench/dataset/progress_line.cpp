// Limits how often a line is printed, so that logs stay short.
#include "bench/dataset/progress_line.h"

#include <fmt/format.h>

#include <cstdio>

#include "harness/base/say.h"

namespace bench {

ProgressLine::ProgressLine(std::string what, int64_t total)
    : what_(std::move(what)), total_(total), terminal_(base::rewrites_lines()) {}

ProgressLine::~ProgressLine() {
  if (terminal_ && shown_) std::fputc('\n', stderr);
}

void ProgressLine::update(int64_t done, int64_t bytes) {
  const double seconds = watch_.s();
  const double interval = terminal_ ? 0.2 : 5.0;
  const bool last = done == total_;
  if (seconds - last_s_ < interval && !(last && shown_)) return;
  last_s_ = seconds;
  shown_ = true;
  const double rate = done / seconds;
  const auto text = fmt::format("{}: {} of {} images, {:.0f} MB, {:.0f} images/s, {:.0f} s left", what_, done,
                                total_, bytes / 1e6, rate, rate > 0 ? (total_ - done) / rate : 0.0);
  if (terminal_)
    base::say("\r\033[K{}", text);
  else
    base::say("{}\n", text);
  std::fflush(stderr);
}

}  // namespace bench
