// Settings as written, and their conversion into fields of a row: type, range, allowed values, C0.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "harness/config/yaml_file.h"
#include "harness/contract/axis_values.h"
#include "harness/contract/row.h"

namespace harness {

struct Setting {
  std::string text;
  Origin origin;
};
using Settings = std::map<std::string, Setting>;  // by field name

// Reads the fields of a mapping. `also`: further allowed keys, which the caller reads, `lists`: also fields
// whose value is a list (row_lists.h).
enum class Lists { refused, left_out };
Settings read_settings(const Entry& mapping, const std::vector<std::string>& also = {},
                       Lists lists = Lists::refused);

// Parses `key=value` of the command line. Throws ConfigError.
std::pair<std::string, Setting> read_assignment(const std::string& text);

// Throws ConfigError with the setting's origin when the value doesn't fit the field.
void assign(Row& row, const std::string& field, const Setting& setting, int64_t c0, const AxisValues& values);

FigureLimits limits_of(const Field& field);  // of a number

std::vector<std::string> field_names();

// The entry of a value; null when it is unknown.
const AxisValue* find_value(const AxisValues& values, const std::string& axis, const std::string& name);
// Whether this build and machine can run the value; false when it is unknown.
bool available(const AxisValues& values, const std::string& axis, const std::string& name);
// A trait of the value; `otherwise` when the value or the trait is unknown.
template <class T>
T trait(const AxisValues& values, const std::string& axis, const std::string& name,
        std::optional<T> Traits::*which, std::type_identity_t<T> otherwise) {
  const AxisValue* value = find_value(values, axis, name);
  return value ? (value->traits.*which).value_or(otherwise) : otherwise;
}

}  // namespace harness
