// Files that a job's loader reads: read into memory, or dropped from it, before a start.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "harness/experiment/job_change.h"

namespace harness {

class JobFiles {
 public:
  // Files that the loader opened in one start. A shuffling loader opens others in the next: so the files
  // beside them count too, as long as all fit into half of the memory that is free.
  void opened(const std::vector<std::string>& files);
  bool known() const { return !opened_.empty(); }
  bool fit() const { return fit_; }  // those that it opened, into half of the free memory
  // Before a start: reads all into memory, or drops all from the page cache. Stops after Ctrl-C.
  void prepare(JobChange::Files as) const;

 private:
  std::set<std::string> opened_, beside_;
  bool fit_ = true;
};

}  // namespace harness
