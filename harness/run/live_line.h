// The progress line of a run: rewritten in place on a terminal, otherwise a new line every 15 s.
#pragma once
#include <functional>
#include <string>

#include "harness/base/stopwatch.h"
#include "harness/contract/progress.h"
#include "harness/contract/row.h"

namespace harness {

class LiveLine {
 public:
  // Seconds from the end of the row that is running to the end of all, from the seconds that this row takes
  // and those of them that are left.
  using Rest = std::function<double(double row_s, double row_left_s)>;
  // `rows_in_all`: 0 if it depends on what is measured. Without `rest` it is estimated from the rows before.
  explicit LiveLine(size_t rows_in_all, Rest rest = {});
  // Shown with the name of the next rows: which run of the row this is.
  void set_label(const std::string& run_label) { run_label_ = run_label; }
  // Whether rates and seconds of the next rows' emulated devices are in these devices' time, as in tables
  // (full_size.h), or as measured, as feed's are.
  void set_devices_time(bool on) { devices_time_ = on; }
  bool devices_time() const { return devices_time_; }
  void begin_row(const Row& row);
  void show(Progress& progress);          // call about five times a second while a row runs
  void end_row(const std::string& text);  // replaces the line by the row's result
 private:
  void write(const std::string& text);
  std::string head() const;
  double others_s(double row_s, double row_left_s) const;
  size_t rows_, row_number_ = 0;
  bool terminal_;
  Rest rest_;
  std::string id_, label_, run_label_;
  bool devices_time_ = true;
  double batch_ = 0;  // images; times time_scale for images/s in the devices' time
  int64_t batches_ = 0;
  base::Stopwatch row_began_, last_plain_, first_batch_at_;
  uint64_t first_batch_ = 0;
  double rows_s_ = 0;  // time of the rows that have ended
};

}  // namespace harness
