// Estimates the remaining time from the batches done by the slowest rank.
#include "harness/run/live_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "harness/base/say.h"

namespace harness {

constexpr double kPlainEvery_s = 15;

static std::string clock_text(double s) { return fmt::format("{}:{:02d}", int(s) / 60, int(s) % 60); }

LiveLine::LiveLine(size_t rows_in_all, Rest rest)
    : rows_(rows_in_all), terminal_(base::rewrites_lines()), rest_(std::move(rest)) {}

// Expected seconds after this row, which takes `row_s`.
double LiveLine::others_s(double row_s, double row_left_s) const {
  if (rest_) return rest_(row_s, row_left_s);
  if (row_number_ > rows_) return 0;
  return double(rows_ - row_number_) * (rows_s_ + row_s) / double(row_number_);
}

// `[2/5] 7 (DP on four): `
std::string LiveLine::head() const {
  const std::string in_all = rows_ > 0 ? fmt::format("/{}", std::max(rows_, row_number_)) : "";
  return fmt::format("[{}{}] {} ({}{}{}): ", row_number_, in_all, id_, label_, run_label_.empty() ? "" : "; ",
                     run_label_);
}

void LiveLine::begin_row(const Row& row) {
  ++row_number_;
  id_ = row.id;
  label_ = row.title;
  batch_ = double(row.batch) * (devices_time_ && !row.device_file.empty() ? row.time_scale : 1);
  batches_ = row.warmup_batches + row.timed_batches;
  row_began_ = last_plain_ = {};
  first_batch_ = 0;
  if (terminal_) write(head() + "starting");
}

void LiveLine::show(Progress& progress) {
  uint64_t done = std::numeric_limits<uint64_t>::max();
  for (int rank = 0; rank < progress.ranks(); ++rank)
    done = std::min<uint64_t>(done, progress.slot(rank).batches);
  if (!terminal_ && last_plain_.s() < kPlainEvery_s) return;
  last_plain_ = {};
  std::string text = head();
  if (done == 0) {
    write(text + "starting");
    return;
  }
  if (first_batch_ == 0) {
    first_batch_ = done;
    first_batch_at_ = {};
  }
  done = std::min(done, uint64_t(batches_));  // batches of the ceilings follow the last one
  text += fmt::format("batch {}/{}", done, batches_);
  const double elapsed = first_batch_at_.s();
  if (done > first_batch_ && elapsed > 0.5) {
    const double batches_per_second = double(done - first_batch_) / elapsed;
    const double row_left_s = double(batches_ - int64_t(done)) / batches_per_second;
    const double row_s = row_began_.s() + row_left_s;
    text += fmt::format(", {:.0f} images/s, {} left", batches_per_second * batch_, clock_text(row_left_s));
    if (rows_ > 0 || rest_)
      text += fmt::format(", about {} for the rest", clock_text(others_s(row_s, row_left_s)));
  }
  write(text);
}

void LiveLine::end_row(const std::string& text) {
  rows_s_ += row_began_.s();
  write(head() + text);
  if (terminal_) base::say("\n");
}

void LiveLine::write(const std::string& text) {
  if (terminal_)
    base::say("\r\x1b[2K{}", text);
  else
    base::say("{}\n", text);
}

}  // namespace harness
