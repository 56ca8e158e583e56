// slice.jsonl in a row's folder: the result of its ranks, written by rank 0. The first line is a SliceFacts,
// the others are the RankReports in rank order. JSON Lines, so that a reader needs memory for one report
// only.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "harness/contract/record_parts.h"

namespace harness {

// Facts that are equal on all ranks.
struct SliceFacts {
  RecordDevice device;
  RecordPrecision precision;
  double clock_ns_per_call = 0;
  std::map<std::string, std::string> versions;
  KEYS(SliceFacts, REQUIRED(device, "as in the record"),
       REQUIRED(precision, "as in the record, without `label`"),
       REQUIRED(clock_ns_per_call, "time of one call of the phase clock, measured after the slice"),
       KEY(versions, "as in the record"));
};

// The content of the file. `reports`: each rank's encoded RankReport, without line breaks. Move it in: each
// text is freed once it is copied.
std::string slice_text(const SliceFacts& facts, std::vector<std::string> reports);

}  // namespace harness
