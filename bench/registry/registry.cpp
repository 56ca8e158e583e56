// Holds all registered values in one static vector, and returns them by axis, sorted by name.
#include "bench/registry/registry.h"

#include <algorithm>

namespace bench {

std::vector<Value>& registered_values() {
  static std::vector<Value> values;
  return values;
}

bool register_missing(Value value, std::string reason) {
  value.missing = std::move(reason);
  registered_values().push_back(std::move(value));
  return true;
}

harness::AxisValues axis_values() {
  std::vector<Value> sorted = registered_values();
  std::sort(sorted.begin(), sorted.end(), [](const Value& a, const Value& b) { return a.name < b.name; });
  harness::AxisValues values;
  for (const Value& value : sorted)
    values[value.axis].push_back({value.name, value.summary, value.traits, value.missing});
  return values;
}

}  // namespace bench
