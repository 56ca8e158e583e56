// The axes of the matrix: each value (a storage, a precision, ...) registers itself with one line at the end
// of its own file, and everything else (lists, checks, labels) is read from here.
#pragma once
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

struct Value {
  std::string axis;     // name of the row field, as in harness/contract/row.cpp
  std::string name;     // value of that field = stem of the file that registers it
  std::string summary;  // one line for `run_matrix list --values`
  nlohmann::json traits =
      nlohmann::json::object();  // facts the harness plans with, e.g. {"process_per_device": true}
  std::string missing = {};      // non-empty: the name is known but this build can't run it, and why
};

// Every registered value of every axis, in no particular order.
std::vector<Value>& registered_values();

// For the file of a value whose library this build lacks: the value is known by name, and rows that ask for
// it end as SKIPPED. reason: what is missing and how to get it.
bool register_missing(Value value, std::string reason);

// `train_slice --values`: {axis: [{"name", "summary", "traits", "missing"}, ...]}, sorted by name.
nlohmann::json values_as_json();

// One registry per interface. Factory is any std::function type that makes one.
template <class Factory>
class Registry {
 public:
  static Registry& instance() {
    static Registry registry;
    return registry;
  }
  bool add(Value value, Factory factory) {
    entries_.push_back({value.name, std::move(factory)});
    registered_values().push_back(std::move(value));
    return true;
  }
  const Factory& find(const std::string& name) const {
    for (const auto& entry : entries_)
      if (entry.first == name) return entry.second;
    throw std::invalid_argument("this build has no '" + name + "'");
  }

 private:
  std::vector<std::pair<std::string, Factory>> entries_;
};

}  // namespace bench
