// Rows that run again because others disturbed them: which attempt counts.
#pragma once
#include "harness/contract/record.h"

namespace harness {

// Whether the row's figures suffer from others so much that it should run again: kDisturbedShare or more.
bool is_disturbed(const Record& record);

// The attempt after `counting`, which counted until now, as record.attempt. The attempt from which others
// took the smallest share counts; its speed isn't looked at. Of equal ones the first counts. A failed attempt
// counts, so that no failure is hidden.
RecordAttempt attempt_after(const Record& counting, const Record& record, int64_t number);

// Whether the record replaces earlier ones of the same row and repeat.
bool replaces_earlier(const Record& record);

}  // namespace harness
