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
  static constexpr auto keys() {
    return known_keys(Required{"batch", &TracedBatch::batch, "its number, timed ones counted from 0"},
                      Key{"machine", &TracedBatch::machine, "equal where steady clocks agree"},
                      Required{"begin_ns", &TracedBatch::begin_ns, "on the rank's steady clock"},
                      Required{"events", &TracedBatch::events, "in ms from then on"},
                      WhenSet{"spans_ms", &TracedBatch::spans_ms, "as in the record"});
  }
};

struct RankTimelines {
  int64_t rank = 0, pid = 0, clock_began_ns = 0;
  std::string host;
  std::vector<TracedBatch> batches;
  static constexpr auto keys() {
    return known_keys(Key{"rank", &RankTimelines::rank, "number of the process"},
                      Required{"host", &RankTimelines::host, "name of its machine"},
                      Key{"pid", &RankTimelines::pid, "of the process"},
                      Required{"clock_began_ns", &RankTimelines::clock_began_ns,
                               "where its steady clock is 0, ns since 1970"},
                      Required{"batches", &RankTimelines::batches, "the traced ones"});
  }
};

}  // namespace harness
