#include "harness/stats/attempt.h"

#include "harness/stats/disturbance.h"

namespace harness {

bool is_disturbed(const Record& record) {
  return is_ok(record) && others_share(record).value_or(0) >= kDisturbedShare;
}

RecordAttempt attempt_after(const Record& counting, const Record& record, int64_t number) {
  const int64_t before = counting.attempt ? counting.attempt->counts : 1;
  if (!is_ok(counting)) return {number, before};
  // A record without the share could have been disturbed by any amount.
  const bool better = !is_ok(record) || others_share(record).value_or(1) < others_share(counting).value_or(1);
  return {number, better ? number : before};
}

bool replaces_earlier(const Record& record) {
  return !record.attempt || record.attempt->counts == record.attempt->number;
}

}  // namespace harness
