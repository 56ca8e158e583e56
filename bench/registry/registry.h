// The axes of the matrix: each value (a storage, a precision, ...) registers itself in its source file;
// lists, checks and labels are generated from the registry. Filled during static initialisation; not
// thread-safe.
#pragma once
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/contract/axis_values.h"

namespace bench {

struct Value {
  std::string axis;     // name of the row field, as in harness/contract/row.cpp
  std::string name;     // value of that field = stem of the file that registers it
  std::string summary;  // one line for `run_matrix list --values`
  harness::Traits traits = {};
  std::string missing = {};  // why this build can't run it; empty: it can
};

// Every registered value of every axis, in no particular order.
std::vector<Value>& registered_values();

// Registers a value whose library this build lacks: rows that use it end as SKIPPED. reason: what is missing
// and how to install it. Always returns true.
bool register_missing(Value value, std::string reason);

// `train_slice --values`, sorted by name.
harness::AxisValues axis_values();

// One registry per interface. Factory is the std::function type that creates instances. find() throws
// std::invalid_argument for an unknown name.
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
