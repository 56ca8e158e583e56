// Settings as they are written, and how one becomes the value of a row's field: type, range, known values,
// C0.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/contract/row.h"
#include "harness/config/yaml_file.h"

namespace harness {

// What `train_slice --values` prints: {axis: [{"name", "summary", "traits", "missing"}]}. Empty, or without
// an axis: the values of that axis are not checked.
using AxisValues = nlohmann::json;

struct Setting {
  std::string text;
  Origin origin;
};
using Settings = std::map<std::string, Setting>;  // by field name

// Reads the fields of a mapping; `also` are further keys that may stand there and that the caller reads
// itself.
Settings read_settings(const Entry& mapping, const std::vector<std::string>& also = {});

// `key=value` of the command line.
std::pair<std::string, Setting> read_assignment(const std::string& text);

// Throws ConfigError with the setting's origin when the value doesn't fit the field.
void assign(Row& row, const std::string& field, const Setting& setting, int64_t c0, const AxisValues& values);

std::vector<std::string> field_names();

// The entry of a value, null when it isn't known; and one of its traits, `otherwise` when nothing says.
const nlohmann::json* find_value(const AxisValues& values, const std::string& axis, const std::string& name);
// Whether this build and machine can run it; false when it isn't known.
bool available(const AxisValues& values, const std::string& axis, const std::string& name);
bool trait(const AxisValues& values, const std::string& axis, const std::string& name, const std::string& key,
           bool otherwise);

}  // namespace harness
