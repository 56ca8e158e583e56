// Rows that differ from a given one in one thing about loading: how `feed` and `explain` find what binds.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "harness/config/settings.h"

namespace harness {

// images/s: emulated cores without a limit, whose threads yield to the ranks all the same.
constexpr double kUnlimitedCore = 1e6;

struct ChangedRow {
  Row row;              // id: the name of the change
  std::string why_not;  // why this row can't be changed so; empty: it can
};

// Collects changed rows. A change that leads to a combination that is refused becomes `why_not`.
class ChangedRows {
 public:
  ChangedRows(Row row, const AxisValues& values) : row_(std::move(row)), values_(values) {}
  void add(const std::string& name, const std::string& why_not, const std::function<void(Row&)>& change);
  const std::vector<ChangedRow>& all() const { return all_; }

 private:
  const Row row_;
  const AxisValues& values_;
  std::vector<ChangedRow> all_;
};

// Adds unchanged, more_threads, fewer_threads, in_memory, no_decoding and made_up. own_images: the user's
// (--data), of which no raw copies are made. Emulated cores have a rate of decoding JPEG alone: without
// decoding they are this machine's.
void add_loading_changes(const Row& row, bool own_images, const AxisValues& values, ChangedRows& changes);

}  // namespace harness
