// Reads, writes and checks values by the descriptions of their types.
#include "harness/contract/codec.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "harness/base/plain_text.h"

namespace harness {

using nlohmann::json;

namespace {

std::string shown(const json& value) {
  const std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  constexpr size_t kLongest = 60;
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

template <class T>
const T& as(const void* value) {
  return *static_cast<const T*>(value);
}
template <class T>
T& as(void* value) {
  return *static_cast<T*>(value);
}

const void* element_at(const ValueType& list, const void* first, size_t i) {
  return static_cast<const char*>(first) + i * list.element->bytes;
}
void* element_at(const ValueType& list, void* first, size_t i) {
  return static_cast<char*>(first) + i * list.element->bytes;
}

json write_structure(const ValueType& type, const void* value) {
  json written = type.as_list ? json::array() : json::object();
  for (const Key& key : type.keys()) {
    const void* member = key.in(value);
    if (type.as_list)
      written.push_back(write_value(*key.type, member));
    else if (key.presence < Presence::when_set || !is_empty(*key.type, member))
      written[key.name] = write_value(*key.type, member);
  }
  return written;
}

json write_list(const ValueType& type, const void* value) {
  if (type.element == &kType<double>) return as<std::vector<double>>(value);
  const auto [first, count] = type.elements(value);
  json list = json::array();
  list.get_ref<json::array_t&>().reserve(count);
  for (size_t i = 0; i < count; ++i) list.push_back(write_value(*type.element, element_at(type, first, i)));
  return list;
}

void read_here(const ValueType& type, void* value, const json& from);

double read_number(const json& from) {
  if (from.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!from.is_number()) throw Violation("", "a number", from);
  return from.get<double>();
}

// Whether `from`, a whole number, lies in the range of the type.
bool fits(const json& from, const ValueType& type, int64_t least, uint64_t most) {
  if (from.is_number_unsigned()) return from.get<uint64_t>() <= most;
  if (from.is_number_integer())
    return from.get<int64_t>() >= least && std::cmp_less_equal(from.get<int64_t>(), most);
  // The largest value needn't be a double, but the power of two above it is.
  const double number = from.get<double>(), above = std::ldexp(1.0, type.digits);
  return number >= (type.is_signed ? -above : 0) && number < above;
}

uint64_t read_integer(const ValueType& type, const json& from) {
  const bool whole = from.is_number_integer() ||
                     (from.is_number_float() && std::trunc(from.get<double>()) == from.get<double>());
  if (!whole) throw Violation("", "a whole number", from);
  const uint64_t most = UINT64_MAX >> (64 - type.digits);
  const int64_t least = type.is_signed ? -int64_t(most) - 1 : 0;
  if (!fits(from, type, least, most))
    throw Violation("", fmt::format("a whole number from {} to {}", least, most), from);
  return type.is_signed ? uint64_t(from.get<int64_t>()) : from.get<uint64_t>();
}

void read_structure(const ValueType& type, void* value, const json& from) {
  const std::span<const Key> keys = type.keys();
  if (type.as_list && (!from.is_array() || from.size() != keys.size()))
    throw Violation("", fmt::format("a list of {} values", keys.size()), from);
  if (!type.as_list && !from.is_object()) throw Violation("", "an object", from);
  for (size_t i = 0; i < keys.size(); ++i) {
    const Key& key = keys[i];
    const json* found = nullptr;
    if (type.as_list) {
      found = &from[i];
    } else if (const auto place = from.find(key.name); place != from.end()) {
      // Null leaves an optional value unset; an optional structure may only be absent.
      if (!place->is_null() || key.type->kind != Kind::optional || key.type->element->keys) found = &*place;
    }
    if (found) try {
        read_here(*key.type, key.in(value), *found);
      } catch (const Violation& violation) {
        throw violation.below(type.as_list ? fmt::format("[{}]", i) : key.name);
      }
    else if (key.presence == Presence::required)
      throw Violation(key.name, key.help);
  }
}

void read_list(const ValueType& type, void* value, const json& from) {
  if (!from.is_array()) throw Violation("", "a list", from);
  void* first = type.resize(value, from.size());
  size_t i = 0;
  try {
    if (type.element == &kType<double>)
      for (; i < from.size(); ++i) static_cast<double*>(first)[i] = read_number(from[i]);
    else
      for (; i < from.size(); ++i) read_here(*type.element, element_at(type, first, i), from[i]);
  } catch (const Violation& violation) {
    throw violation.below(fmt::format("[{}]", i));
  }
}

void read_map(const ValueType& type, void* value, const json& from) {
  if (!from.is_object()) throw Violation("", "an object", from);
  type.resize(value, 0);
  for (const auto& [name, one] : from.items()) try {
      read_here(*type.element, type.add(value, base::plain_text(name)), one);
    } catch (const Violation& violation) {
      throw violation.below(name);
    }
}

void read_here(const ValueType& type, void* value, const json& from) {
  switch (type.kind) {
    case Kind::boolean:
      if (!from.is_boolean()) throw Violation("", "true or false", from);
      as<bool>(value) = from.get<bool>();
      break;
    case Kind::text:
      if (!from.is_string()) throw Violation("", "text", from);
      as<std::string>(value) = base::plain_text(from.get_ref<const std::string&>());
      break;
    case Kind::integer:
      type.store(value, read_integer(type, from));
      break;
    case Kind::number:
      as<double>(value) = read_number(from);
      break;
    case Kind::json:
      as<json>(value) = from;
      break;
    case Kind::structure:
      read_structure(type, value, from);
      break;
    case Kind::optional:
      read_here(*type.element, type.resize(value, 1), from);
      break;
    case Kind::list:
      read_list(type, value, from);
      break;
    case Kind::map:
      read_map(type, value, from);
      break;
    case Kind::own:
      type.read(value, from);
      break;
  }
}

}  // namespace

Violation::Violation(const std::string& at, const std::string& expected, const json& found)
    : Violation(Problem{fmt::format(": expected {}, found {}", expected, shown(found))}, at) {}

Violation::Violation(const std::string& at, const std::string& expected)
    : Violation(Problem{fmt::format(" is missing: expected {}", expected)}, at) {}

Violation Violation::below(const std::string& above) const {
  return {problem_, above + (at_.empty() || at_[0] == '[' || above.empty() ? "" : ".") + at_};
}

Violation::Violation(const Problem& problem, const std::string& at)
    : std::runtime_error(fmt::format("`{}`{}", at, problem.text)), problem_(problem), at_(at) {}

bool is_empty(const ValueType& type, const void* value) {
  switch (type.kind) {
    case Kind::boolean:
      return !as<bool>(value);
    case Kind::text:
      return as<std::string>(value).empty();
    case Kind::json:
      return as<json>(value).empty();
    case Kind::optional:
    case Kind::list:
      return type.elements(value).count == 0;
    case Kind::map:
      return type.entries(value).empty();
    default:
      return false;
  }
}

std::vector<std::string> names_of_keys(const ValueType& structure) {
  std::vector<std::string> names;
  for (const Key& key : structure.keys()) names.push_back(key.name);
  return names;
}

json write_value(const ValueType& type, const void* value) {
  switch (type.kind) {
    case Kind::boolean:
      return as<bool>(value);
    case Kind::integer:
      return type.is_signed ? json(int64_t(type.load(value))) : json(type.load(value));
    case Kind::number:
      return as<double>(value);
    case Kind::text:
      return as<std::string>(value);
    case Kind::json:
      return as<json>(value);
    case Kind::structure:
      return write_structure(type, value);
    case Kind::list:
      return write_list(type, value);
    case Kind::own:
      return type.write(value);
    case Kind::optional: {
      const void* held = type.elements(value).first;
      return held ? write_value(*type.element, held) : json();
    }
    case Kind::map:
      break;
  }
  json object = json::object();
  for (const auto& [name, one] : type.entries(value)) object[*name] = write_value(*type.element, one);
  return object;
}

void read_value(const ValueType& type, void* value, const json& from, const std::string& at) try {
  read_here(type, value, from);
} catch (const Violation& violation) {
  throw violation.below(at);
}

void require_version(const json& object, const std::string& key, int64_t version, const char* what) {
  if (!object.is_object()) throw Violation("line", "a JSON object", object);
  const auto found = object.find(key);
  if (found == object.end()) throw Violation(key, fmt::format("{}; this is not {}", version, what));
  if (*found != version) throw Violation(key, fmt::format("{}, the only supported version", version), *found);
}

json::array_t take_list(json& object, const std::string& key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (found == object.end()) throw Violation(key, "a list");
  if (!found->is_array()) throw Violation(key, "a list", *found);
  return std::move(found->get_ref<json::array_t&>());
}

}  // namespace harness
