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
  static constexpr auto keys() {
    return known_keys(Required{"device", &SliceFacts::device, "as in the record"},
                      Required{"precision", &SliceFacts::precision, "as in the record, without `label`"},
                      Required{"clock_ns_per_call", &SliceFacts::clock_ns_per_call,
                               "time of one call of the phase clock, measured after the slice"},
                      Key{"versions", &SliceFacts::versions, "as in the record"});
  }
};

// The content of the file. `reports`: each rank's encoded RankReport, without line breaks. Move it in: each
// text is freed once it is copied.
std::string slice_text(const SliceFacts& facts, std::vector<std::string> reports);

}  // namespace harness
