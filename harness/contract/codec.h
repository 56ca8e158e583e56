// JSON for the structs of the contract: keys() lists the members of each struct once; reading, writing,
// checks and documentation are derived from it.
//
//   struct Place {
//     int64_t rank = 0;
//     std::string host;
//     static constexpr auto keys() {
//       return std::tuple(Key{"rank", &Place::rank, "number of the process"},
//                         Key{"host", &Place::host, "name of its machine"});
//     }
//   };
//
// Members may be bool, any integer type, double, std::string, nlohmann::json (unchanged), another struct with
// keys(), and std::optional, std::vector, std::map<std::string, ...> of these. A number that the member's
// integer type can't hold is a Violation. A double that isn't finite becomes null in JSON. Keys that a struct
// doesn't name are left out. A struct with `kAsList = true` is a list of its members' values in JSON, in
// their order.
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace harness {

enum class Presence {
  required,    // reading throws Violation when the key is absent
  when_known,  // absent: the member keeps its default; always written
  when_set,    // as when_known, but written only when not empty (optional, list, map, text) and not false
  figure       // as when_set; a measured figure, which only a record without failure has
};

template <class Struct, class Value>
struct Key {
  const char* name;
  Value Struct::*member;
  const char* help;  // one line: the meaning, and the unit where the name doesn't end in it
  Presence presence = Presence::when_known;
};
template <class Struct, class Value, class... Rest>
Key(const char*, Value Struct::*, const char*, Rest...) -> Key<Struct, Value>;

// A value that violates the contract. `at`: path of the key, e.g. samples_ms.load[3].
struct Violation : std::runtime_error {
  Violation(const std::string& at, const std::string& expected, const nlohmann::json& found)
      : Violation(Problem{fmt::format(": expected {}, found {}", expected, shown(found))}, at) {}

  // The key is missing.
  Violation(const std::string& at, const std::string& expected)
      : Violation(Problem{fmt::format(" is missing: expected {}", expected)}, at) {}

  // The same violation, in a value whose own path is `above`.
  Violation below(const std::string& above) const {
    return {problem_, above + (at_.empty() || at_[0] == '[' || above.empty() ? "" : ".") + at_};
  }

 private:
  struct Problem {
    std::string text;
  };
  Violation(const Problem& problem, const std::string& at)
      : std::runtime_error(fmt::format("`{}`{}", at, problem.text)), problem_(problem), at_(at) {}

  static std::string shown(const nlohmann::json& value) {
    const std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    constexpr size_t kLongest = 60;
    return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
  }

  Problem problem_;
  std::string at_;
};

template <class T>
concept Keyed = requires {
  T::keys();
};

template <class T>
concept Listed = Keyed<T> && requires {
  T::kAsList;
};

// A struct with its own to_json() and read() instead of keys().
template <class T>
concept Tabled = requires(const T& value, const nlohmann::json& object) {
  { to_json(value) } -> std::same_as<nlohmann::json>;
  value.read(object);
};

template <class T>
nlohmann::json encode(const T& value);

namespace detail {

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
// An optional that null in JSON leaves unset; an optional struct with keys() may only be absent.
template <class T>
inline constexpr bool is_optional_value = false;
template <class T>
inline constexpr bool is_optional_value<std::optional<T>> = !requires {
  T::keys();
};
template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;
template <class T>
inline constexpr bool is_map = false;
template <class T>
inline constexpr bool is_map<std::map<std::string, T>> = true;

template <class T>
bool is_empty(const T& value) {
  if constexpr (is_optional<T>)
    return !value.has_value();
  else if constexpr (is_vector<T> || is_map<T> || std::is_same_v<T, std::string> ||
                     std::is_same_v<T, nlohmann::json>)
    return value.empty();
  else if constexpr (std::is_same_v<T, bool>)
    return !value;
  else
    return false;
}

inline std::string below(const std::string& at, const std::string& name) {
  return at.empty() ? name : at + "." + name;
}

}  // namespace detail

template <class T>
nlohmann::json encode(const T& value) {
  if constexpr (Listed<T>) {
    nlohmann::json list = nlohmann::json::array();
    std::apply([&](const auto&... key) { (list.push_back(encode(value.*key.member)), ...); }, T::keys());
    return list;
  } else if constexpr (Keyed<T>) {
    nlohmann::json object = nlohmann::json::object();
    std::apply(
        [&](const auto&... key) {
          ((key.presence >= Presence::when_set && detail::is_empty(value.*key.member)
                ? void()
                : void(object[key.name] = encode(value.*key.member))),
           ...);
        },
        T::keys());
    return object;
  } else if constexpr (detail::is_optional<T>) {
    return value ? encode(*value) : nlohmann::json();
  } else if constexpr (detail::is_vector<T>) {
    if constexpr (std::is_arithmetic_v<typename T::value_type>) {
      return nlohmann::json(value);
    } else {
      nlohmann::json list = nlohmann::json::array();
      list.template get_ref<nlohmann::json::array_t&>().reserve(value.size());
      for (const auto& one : value) list.push_back(encode(one));
      return list;
    }
  } else if constexpr (detail::is_map<T>) {
    nlohmann::json object = nlohmann::json::object();
    for (const auto& [name, one] : value) object[name] = encode(one);
    return object;
  } else {
    return value;
  }
}

template <class T>
T decode(const nlohmann::json& value, const std::string& at = "");

namespace detail {

// Whether `value`, a whole number, lies in the range of T.
template <class T>
bool fits(const nlohmann::json& value) {
  if (value.is_number_unsigned()) return std::in_range<T>(value.get<uint64_t>());
  if (value.is_number_integer()) return std::in_range<T>(value.get<int64_t>());
  // The largest T needn't be a double, but the power of two above it is.
  const double above = std::ldexp(1.0, std::numeric_limits<T>::digits);
  return value.get<double>() >= (std::is_signed_v<T> ? -above : 0) && value.get<double>() < above;
}

// Builds the value's path only for a violation: most values have none.
template <class T, class Path>
T decode_at(const nlohmann::json& value, Path path) try {
  return decode<T>(value);
} catch (const Violation& violation) {
  throw violation.below(path());
}

}  // namespace detail

template <class T>
T decode(const nlohmann::json& value, const std::string& at) {
  if constexpr (std::is_same_v<T, nlohmann::json>) {
    return value;
  } else if constexpr (Listed<T>) {
    constexpr size_t size = std::tuple_size_v<decltype(T::keys())>;
    if (!value.is_array() || value.size() != size)
      throw Violation(at, fmt::format("a list of {} values", size), value);
    T made;
    size_t i = 0;
    const auto take = [&](auto& member) {
      using Member = std::remove_cvref_t<decltype(member)>;
      member = detail::decode_at<Member>(value[i], [&] { return fmt::format("{}[{}]", at, i); });
      ++i;
    };
    std::apply([&](const auto&... key) { (take(made.*key.member), ...); }, T::keys());
    return made;
  } else if constexpr (Keyed<T>) {
    if (!value.is_object()) throw Violation(at, "an object", value);
    T made;
    std::apply(
        [&](const auto&... key) {
          (
              [&] {
                using Member = std::remove_cvref_t<decltype(made.*key.member)>;
                const auto found = value.find(key.name);
                const bool unknown =
                    found != value.end() && found->is_null() && detail::is_optional_value<Member>;
                const bool absent = found == value.end() || unknown;
                if (!absent)
                  made.*key.member =
                      detail::decode_at<Member>(*found, [&] { return detail::below(at, key.name); });
                else if (key.presence == Presence::required)
                  throw Violation(detail::below(at, key.name), key.help);
              }(),
              ...);
        },
        T::keys());
    return made;
  } else if constexpr (detail::is_optional<T>) {
    return decode<typename T::value_type>(value, at);
  } else if constexpr (detail::is_vector<T>) {
    if (!value.is_array()) throw Violation(at, "a list", value);
    T list;
    list.reserve(value.size());
    for (size_t i = 0; i < value.size(); ++i) {
      using Element = typename T::value_type;
      list.push_back(detail::decode_at<Element>(value[i], [&] { return fmt::format("{}[{}]", at, i); }));
    }
    return list;
  } else if constexpr (detail::is_map<T>) {
    if (!value.is_object()) throw Violation(at, "an object", value);
    T map;
    for (const auto& [name, one] : value.items())
      map.emplace(name, detail::decode_at<typename T::mapped_type>(
                            one, [&, &name = name] { return detail::below(at, name); }));
    return map;
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!value.is_boolean()) throw Violation(at, "true or false", value);
    return value.get<bool>();
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!value.is_string()) throw Violation(at, "text", value);
    return value.get<std::string>();
  } else if constexpr (std::is_integral_v<T>) {
    const bool whole = value.is_number_integer() ||
                       (value.is_number_float() && std::trunc(value.get<double>()) == value.get<double>());
    if (!whole) throw Violation(at, "a whole number", value);
    if (!detail::fits<T>(value))
      throw Violation(at,
                      fmt::format("a whole number from {} to {}", std::numeric_limits<T>::min(),
                                  std::numeric_limits<T>::max()),
                      value);
    return value.get<T>();
  } else {
    static_assert(std::is_floating_point_v<T>);
    if (value.is_null()) return std::numeric_limits<T>::quiet_NaN();
    if (!value.is_number()) throw Violation(at, "a number", value);
    return value.get<T>();
  }
}

// Throws Violation if `object` has another version, or isn't `what` at all, e.g. "a record". Call it before
// decode(), which would name missing keys.
inline void require_version(const nlohmann::json& object, const std::string& key, int64_t version,
                            const char* what) {
  if (!object.is_object()) throw Violation("line", "a JSON object", object);
  const auto found = object.find(key);
  if (found == object.end()) throw Violation(key, fmt::format("{}; this is not {}", version, what));
  if (*found != version) throw Violation(key, fmt::format("{}, the only supported version", version), *found);
}

// Moves a list out of an object, to decode its elements one by one: avoids the copy of a large list.
inline nlohmann::json::array_t take_list(nlohmann::json& object, const std::string& key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (found == object.end()) throw Violation(key, "a list");
  if (!found->is_array()) throw Violation(key, "a list", *found);
  return std::move(found->get_ref<nlohmann::json::array_t&>());
}

}  // namespace harness
