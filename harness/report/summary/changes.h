// The changes that `feed` and `explain` make to a row, one at a time, to find what binds it.
#pragma once
#include <string>
#include <vector>

namespace harness {

struct Change {
  const char* name;           // in RecordFeed and RecordIntervention
  const char* against = "";   // the run that it is compared with to tell its resource's part; empty: none
  const char* resource = "";  // what it relieves; empty: it only shows a dependence
  const char* title = "";     // in a few words
  const char* next = "";      // what would do the same for good
  double factor = 0;          // its part of the work becomes so many times as fast; 0: it takes no time
  bool burden = false;        // adds time on purpose; see RecordIntervention::added_ms
  bool for_good = false;      // can be had as it was measured, by another setting or by other hardware
  // Narrower changes, of which the fastest takes the place of `against` in `explain`.
  std::vector<const char*> includes = {};
};

// In the order of tables. in_memory, no_decoding and made_up form a ladder: each leaves out one more part of
// the work. So do timed_device and faster_device.
const std::vector<Change>& changes();
const Change* find_change(const std::string& name);    // null when there is none
const char* title_of_change(const std::string& name);  // empty when there is none

}  // namespace harness
