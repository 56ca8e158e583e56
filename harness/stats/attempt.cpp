// Lets a new attempt count if it was disturbed less than the one that counts, or if it failed.
#include "harness/stats/attempt.h"

#include "harness/stats/disturbance.h"

namespace harness {

RecordAttempt attempt_after(const Record& counting, const Record& record, int64_t number) {
  const int64_t before = counting.attempt ? counting.attempt->counts : 1;
  if (!is_ok(counting)) return {number, before};
  const bool better = !is_ok(record) || disturbance_of(record) < disturbance_of(counting);
  return {number, better ? number : before};
}

bool replaces_earlier(const Record& record) {
  return !record.attempt || record.attempt->counts == record.attempt->number;
}

}  // namespace harness
