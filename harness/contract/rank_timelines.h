// rank-N.timeline.json: the traced batches as one rank saw them (`--trace`).
#pragma once
#include <map>
#include <string>
#include <vector>

#include "harness/contract/record_parts.h"

namespace harness {

struct TracedBatch {
  int64_t batch = 0, machine = 0, begin_ns = 0;
  std::vector<TimelineEvent> events;
  std::map<std::string, double> spans_ms;
  KEYS(TracedBatch, REQUIRED(batch, "its number, timed ones counted from 0"),
       KEY(machine, "equal where steady clocks agree"), REQUIRED(begin_ns, "on the rank's steady clock"),
       REQUIRED(events, "in ms from then on"), WHEN_SET(spans_ms, "as in the record"));
};

struct RankTimelines {
  int64_t rank = 0, pid = 0, clock_began_ns = 0;
  std::string host;
  std::vector<TracedBatch> batches;
  KEYS(RankTimelines, KEY(rank, "number of the process"), REQUIRED(host, "name of its machine"),
       KEY(pid, "of the process"), REQUIRED(clock_began_ns, "where its steady clock is 0, ns since 1970"),
       REQUIRED(batches, "the traced ones"));
};

}  // namespace harness
