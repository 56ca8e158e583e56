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

nlohmann::json values_as_json() {
  std::vector<Value> sorted = registered_values();
  std::sort(sorted.begin(), sorted.end(), [](const Value& a, const Value& b) { return a.name < b.name; });
  nlohmann::json object = nlohmann::json::object();
  for (const Value& value : sorted)
    object[value.axis].push_back({{"name", value.name},
                                  {"summary", value.summary},
                                  {"traits", value.traits},
                                  {"missing", value.missing}});
  return object;
}

}  // namespace bench
