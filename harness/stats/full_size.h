// Rows on emulated devices whose time runs at different speeds, brought to one for tables and plots.
#pragma once
#include "harness/contract/record.h"

namespace harness {

// Of the rows on emulated devices, those whose `time_scale` is not that of most rows (the smaller one, if two
// are as frequent) get all their times as at that one, and a note. Times of a modelled device are
// proportional to its time_scale; those of real bytes between nodes are nearly so, because the link's rate
// follows it. Runs of `feed`, whose time_scale is the
// number of devices, and of `explain`, which compares a row with itself, stay as they are.
Records in_common_time(Records records);

}  // namespace harness
