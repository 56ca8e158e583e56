// Shared by tests that merge ranks' reports: merges encoded RankReports through the text of slice.jsonl.
#pragma once
#include <sstream>
#include <string>
#include <vector>

#include "harness/contract/slice_file.h"
#include "harness/merge/merge.h"

inline harness::Record merged_texts(const harness::Row& row, std::vector<std::string> reports) {
  const auto ranks = int64_t(reports.size());
  harness::SliceFacts facts;
  facts.clock_ns_per_call = 30;
  std::istringstream slice(harness::slice_text(facts, std::move(reports)));
  return harness::merge_reports(row, ranks, slice);
}
