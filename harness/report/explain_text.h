// The answers of `explain` and `feed` as text and tables.
#pragma once
#include <string>
#include <vector>

#include "harness/report/summary/explanation.h"
#include "harness/report/summary/feed_answer.h"
#include "harness/report/summary/grid.h"

namespace harness {

Facts explain_facts(const Explanation& explanation);
Grid explain_grid(const Explanation& explanation);
std::string explain_text(const std::vector<Explanation>& explanations);

// Question and answer, what is fed, what binds, what the asked number needs: one sentence each.
Facts feed_facts(const FeedAnswer& answer);
Facts feed_facts(const JobFeed& feed);

// Utilisation by number of devices; the changes made to find what binds.
Grid feed_grid(const FeedAnswer& answer);
Grid feed_changes_grid(const FeedAnswer& answer);

// All of it, for feed.txt and the console.
std::string feed_text(const FeedAnswer& answer);

}  // namespace harness
