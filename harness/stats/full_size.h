// Rows on emulated devices with the batches and in the time of the devices that they stand for.
#pragma once
#include "harness/contract/record.h"

namespace harness {

// Rows on emulated devices run with the batch divided (`batch_divisor`) and with time stretched
// (`time_scale`), by as much as the machine needs. In the result, their batches and all times of the training
// are those of the whole batch on the device itself: 300 batches take the article's seconds, and rows of one
// run, of two runs or of two machines can be compared whatever they were stretched by. Modelled durations are
// proportional to time_scale / batch_divisor; those of loading and of bytes between nodes are nearly so,
// because the rates that limit them follow. `emulated` says how the row ran; wall_s, memory and what others
// did stay as they were here.
//
// Runs of `feed`, whose time_scale is the number of devices, stay as they are. For tables, plots and
// comparisons; records.jsonl has what was measured.
Records at_full_size(Records records);

}  // namespace harness
