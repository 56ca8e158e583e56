// Rows that run again because they were disturbed: which attempt counts.
#pragma once
#include <map>
#include <string>
#include <utility>

#include "harness/contract/record.h"

namespace harness {

// The attempt after `counting`, which counted until now, as record.attempt. The least disturbed attempt
// counts (disturbance_of()); its speed isn't looked at. Of equal ones the first counts. A failed attempt
// counts, so that no failure is hidden.
RecordAttempt attempt_after(const Record& counting, const Record& record, int64_t number);

// Number of attempts so far, by row and repeat; absent: one.
using Attempts = std::map<std::pair<std::string, int64_t>, int64_t>;

// Whether the record replaces earlier ones of the same row and repeat.
bool replaces_earlier(const Record& record);

}  // namespace harness
