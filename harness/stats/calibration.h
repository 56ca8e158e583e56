// A device file from the records of a run: what one device took for a step there.
#pragma once
#include <string>
#include <vector>

#include "harness/contract/emulated_device.h"
#include "harness/contract/record.h"

namespace harness {

struct CalibrationRows {
  // With one device, or with ranks that leave out their collectives, as many in each row; never empty; alike
  // in all that changes a device's times but the batch.
  RecordList single;
  RecordList several;  // with several ranks on one node, whose all-reduces were measured alone
};

// rows: ids to choose from; empty: all. Throws std::runtime_error with the reason and the next step when a
// named row can't be used, or when none can.
CalibrationRows rows_to_calibrate_from(const Records& records, const std::vector<std::string>& rows);

inline bool is_cpu(const Record& record) { return record.device.kind == "cpu"; }

// `row 0`, `rows 0, 1`
std::string names_of(const RecordList& records);

// Times are medians over the timed batches, in ms. On GPUs they are those of the device's clock. On a CPU
// they are the host's, of rows with storage synthetic, because loader threads would share the cores with the
// device: forward then includes the loss, and the optimizer the bookkeeping (`other`).
//
// Each precision's times come from its rows with one device, or with ranks that leave out their collectives
// (field collectives): the latter are the times under the load of the other ranks. Rows with different
// batches separate the time per image from the fixed one by least squares. Collectives come from rows with
// several ranks on one node. What no row tells is `assumed`, with the reason as its source.
//
// rows: ids of the rows to use; empty: all that can be used. run: names the run in the figures' sources.
// Throws std::runtime_error with the reason and the next step when a row can't be used or none can.
EmulatedDevice calibrate(const Records& records, const std::vector<std::string>& rows,
                         const std::string& name, const std::string& run);

}  // namespace harness
