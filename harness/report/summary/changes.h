// The changes that `feed` and `explain` make to a row, one at a time, to find what binds it, and the only
// remedies that a page names.
#pragma once
#include <string>
#include <vector>

#include "harness/contract/record.h"

namespace harness {

// What it takes to have a change for good: nothing, a copy of the images in another format or place,
// hardware.
enum class Cost { none, setting, conversion, purchase };

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
  Cost cost = Cost::none;
  // A row shows the change if it differs from its base in these fields only: with `values`, in the first,
  // which is then one of them; otherwise all numbers grow.
  std::vector<const char*> fields = {}, values = {};
  const char* unit = "";                      // of a purchase, whose multiple is told: the devices
  bool (*possible)(const Record&) = nullptr;  // false: this row can't be changed so, or is so already
  bool when_named = false;                    // `explain` tries it only with --change
};

// In the order of tables. in_memory, no_decoding and made_up form a ladder: each leaves out one more part of
// the work. So do timed_device and faster_device.
const std::vector<Change>& changes();
const Change* find_change(const std::string& name);    // null when there is none
const char* title_of_change(const std::string& name);  // empty when there is none
// The settings in which two rows differ apart from what follows from the article's window.
std::vector<std::string> differences(const Row& one, const Row& other);
// The change by which `row` differs from `base`; null when it is none of the table, or several at once.
const Change* change_between(const Row& base, const Row& row);

}  // namespace harness
