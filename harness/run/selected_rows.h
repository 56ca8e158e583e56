// The rows that a request selects, resolved for this build and this machine, before anything is prepared.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "harness/config/scales.h"
#include "harness/contract/axis_values.h"
#include "harness/contract/emulated_device.h"
#include "harness/plan/plan.h"

namespace harness {

// Output of `train_slice --values`, kept beside it by its build; nothing when train_slice isn't built.
AxisValues ask_values(const Installation& installation);

// The resolved rows that a request selects, and their scale.
struct Selection {
  Scale scale;
  std::vector<Row> rows;
  std::map<std::string, std::vector<std::string>> notes;  // by row id, from choose_backends() and --devices
  std::vector<std::string> repeated;                      // ids that the matrices name in `repeated`
  std::map<std::string, EmulatedDevice> device_files;     // by field `device_file`; read once, for all rows
};
Selection select_rows(const Installation& installation, const Request& request, const AxisValues& values);
// harness/plan's make_plan(), with the notes of the selection added.
std::vector<PlannedRow> make_plan(const Selection& selection, const AxisValues& values,
                                  const Request& request, const RecordMachine& machine);
// select_rows() with further checks: train_slice is built, and --trace and --wrap fit the rows.
Selection checked_selection(const Installation& installation, const Request& request,
                            const AxisValues& values);

}  // namespace harness
