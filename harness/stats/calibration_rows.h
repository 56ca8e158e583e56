// Chooses the records that a device can be calibrated from.
#pragma once
#include <string>
#include <vector>

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

}  // namespace harness
