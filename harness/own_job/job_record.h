// A segment of a start of a job as the record that a row has, so that tables, histories and comparisons need
// no second path.
#pragma once
#include <string>
#include <vector>

#include "harness/contract/record.h"
#include "harness/own_job/job_start.h"
#include "harness/own_job/probe_report.h"

namespace harness {

inline constexpr const char* kJobRow = "job";  // id of the row

// What all records of one command share.
struct JobFrame {
  std::vector<std::string> command;
  RecordMachine machine;
  RecordBuild build;
};

// Without figures, with the reason for its status.
Record job_record(const JobFrame& frame, const std::string& status, const std::string& reason);

// Which of a start's segments make a record.
struct SegmentsOf {
  std::vector<int64_t> indices;  // in the plan
  std::string change;            // what the probe calls them, for the reason where it refuses them
  bool keep_disturbed = false;   // others may have taken the processor: a note says so
  bool of_other_ranks = false;   // the duration is the median of all ranks but the slowest
};
// Without such segments CRASHED or, where the probe says why, SKIPPED; INVALID where others took so much of
// the processor that the time says nothing.
Record job_record(const JobFrame& frame, const ProbeReport& report, const JobEnd& end, const SegmentsOf& of);

// Why a start gave no figure: what ended it, what the probe saw, and its last lines.
std::string why_no_steps(const ProbeReport& report, const JobEnd& end, double limit_s);

}  // namespace harness
