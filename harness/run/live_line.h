// The progress line of a run: rewritten in place on a terminal, otherwise a new line every 15 s.
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "harness/contract/progress.h"
#include "harness/contract/row.h"

namespace harness {

class LiveLine {
 public:
  // `rows_in_all`: 0 if it depends on what is measured. `predicted`: seconds of each row in running order,
  // for the remaining time; if empty, it is estimated from the rows before.
  LiveLine(size_t rows_in_all, bool terminal, std::vector<double> predicted = {});
  void begin_row(const Row& row);
  void show(Progress& progress);          // call about five times a second while a row runs
  void end_row(const std::string& text);  // replaces the line by the row's result
 private:
  void write(const std::string& text);
  std::string head() const;
  using Clock = std::chrono::steady_clock;
  double others_s(double row_s) const;
  size_t rows_, row_number_ = 0;
  bool terminal_;
  std::vector<double> predicted_;
  std::string id_, label_;
  int64_t batch_ = 0, batches_ = 0;
  Clock::time_point row_began_, last_plain_, first_batch_at_;
  uint64_t first_batch_ = 0;
  double rows_s_ = 0;  // time of the rows that have ended
};

}  // namespace harness
