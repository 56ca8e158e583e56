// The output of `run_matrix list`: rows, fields and values.
#pragma once
#include <string>
#include <vector>

#include "harness/config/scales.h"

namespace harness {

std::string list_rows(const std::vector<Row>& rows, const Scale& scale);
std::string list_rows_as_json(const std::vector<Row>& rows);
std::string list_fields();
std::string list_fields_as_json();
std::string list_values(const AxisValues& values);

}  // namespace harness
