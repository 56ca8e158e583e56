// One start of a user's training command: with the probe in its Python processes, in overlays that throw away
// what it writes, and for a limited time.
#pragma once
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/config/installation.h"

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
  std::string advice;               // what to do, where that is known of a job that failed
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

}  // namespace harness
