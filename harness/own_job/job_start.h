// One start of a user's training command: with the probe in its Python processes, in overlays that throw away
// what it writes, and for a limited time.
#pragma once
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "harness/config/installation.h"
#include "harness/experiment/job_change.h"
#include "harness/own_job/probe_report.h"

namespace harness {

struct JobStart {
  std::vector<std::string> command;  // the program first; no shell is involved
  nlohmann::json plan;               // for the probe (docs/own_job.md); null: no probe
  fs::path folder;                   // of this start, created here; the probe's reports and output.txt
  std::vector<int> cpus;             // cores that the job may use; empty: all of this process
  std::string control_group;         // folder of the one that the job enters; empty: as this process
  double limit_s = 0;                // then all its processes are killed
  bool may_write = false;            // no overlays: the job writes to the real file systems
};

struct JobEnd {
  int exit_code = 0;  // 128 + signal number when a signal ended it
  bool in_time = true, interrupted = false;
  double wall_s = 0;
  // Of this machine's cores during the start, 0-1: what neither the job nor the kernel used, and what the
  // hypervisor took.
  double outside_share = 0, stolen_share = 0;
  std::string last_lines;           // of its output
  int64_t overlay_bytes = 0;        // of memory for what it wrote; 0: it wrote for real
  std::vector<std::string> caught;  // `BYTES PATH` of files that it wrote and that were thrown away
};

// Runs the command and returns when all of its processes have ended. `enough`: called every few
// milliseconds; when it returns true, they are killed. Throws std::runtime_error when it can't be started, or
// the overlays can't be made.
JobEnd run_job(const Installation& installation, const JobStart& start, const std::function<bool()>& enough);

// Why the job can't run without the quota that limits the cores of this process; empty: it can, in the
// control group base::process_limits().without_quota.
std::string why_quota_stays();

class StepLines {
 public:
  // `output`: file that the job prints to; `pattern`: found in one line a step (ECMAScript's expressions).
  // Throws std::regex_error.
  StepLines(const std::filesystem::path& output, const std::string& pattern)
      : output_(output), pattern_(pattern) {}

  // Reads new lines. Call often: a line's time is that of the call. Returns how many steps there were.
  int64_t poll();
  // One segment, as from the probe, of the `steps` after the first `warmup`; an item is a step. Without half
  // of them, or where lines come in bursts, the report has no segment and says why.
  ProbeReport report(int64_t warmup, int64_t steps) const;

 private:
  using Clock = std::chrono::steady_clock;
  const std::filesystem::path output_;
  const std::regex pattern_;
  std::streamoff read_ = 0;
  std::string rest_;  // an unfinished line
  std::vector<Clock::time_point> ends_;
};

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
