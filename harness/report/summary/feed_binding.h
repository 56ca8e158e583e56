// What limits the loader of a `feed` run: compares runs that differ in one thing.
#pragma once
#include <string>

#include "harness/report/summary/feed_answer.h"

namespace harness {

// Sets changes, binding and because from the records.
void find_binding(FeedAnswer& answer, const RecordList& records);

// Images per second of a change; 0 when it wasn't measured.
double rate_of(const FeedAnswer& answer, const std::string& purpose);

}  // namespace harness
