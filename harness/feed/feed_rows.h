// The rows of `feed`: the loader as asked, and with one change each, to find what binds it.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "harness/config/request.h"
#include "harness/config/scales.h"
#include "harness/feed/feed.h"

namespace harness {

struct FeedRows {
  Row asked;                                         // id: feed
  std::vector<Row> changed;                          // ids: the purposes in RecordFeed
  std::vector<std::pair<Row, std::string>> refused;  // changes that can't be made here, and why
};

// `row`: the row of configs/feed.yaml with --set applied. Cores and loader threads become all cores of this
// machine, the storage that of `feed`, the page cache cold where the storage has one, unless --set names
// them. Throws ConfigError for an unknown storage or model, and for settings that contradict each other.
FeedRows feed_rows(const Row& row, const FeedRequest& feed, const Request& request, const Scale& scale,
                   const AxisValues& values);

}  // namespace harness
