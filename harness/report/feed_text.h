// The answer of `run_matrix feed` as text and tables.
#pragma once
#include <string>
#include <vector>

#include "harness/report/summary/feed_answer.h"
#include "harness/report/summary/grid.h"

namespace harness {

// Question and answer, what is fed, what binds, what the asked number needs: one sentence each.
std::vector<std::pair<std::string, std::string>> feed_facts(const FeedAnswer& answer);

// Utilisation by number of devices; the changes made to find what binds.
Grid feed_grid(const FeedAnswer& answer);
Grid feed_changes_grid(const FeedAnswer& answer);

// All of it, for feed.txt and the console.
std::string feed_text(const FeedAnswer& answer);

}  // namespace harness
