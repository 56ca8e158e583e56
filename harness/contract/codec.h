// JSON for the structs of the contract: keys() lists the members of each struct once; reading, writing,
// checks and documentation are derived from it.
//
//   struct Place {
//     int64_t rank = 0;
//     std::string host;
//     KEYS(Place, KEY(rank, "number of the process"), REQUIRED(host, "name of its machine"));
//   };
//
// Members may be bool, any integer type, double, std::string, nlohmann::json (unchanged), another struct with
// keys(), and std::optional, std::vector, std::map<std::string, ...> of these. A number that the member's
// integer type can't hold is a Violation. A double that isn't finite becomes null in JSON. Keys that a struct
// doesn't name are left out. A struct with `kAsList = true` is a list of its members' values in JSON, in
// their order.
//
// Templates only describe the types; codec.cpp, compiled once, reads and writes values by these descriptions.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace harness {

enum class Presence {
  required,    // reading throws Violation when the key is absent
  when_known,  // absent: the member keeps its default; always written
  when_set,    // as when_known, but written only when not empty (optional, list, map, text) and not false
  figure       // as when_set; a measured figure, which only a record without failure has
};

// A value that violates the contract. `at`: path of the key, e.g. samples_ms.load[3].
struct Violation : std::runtime_error {
  Violation(const std::string& at, const std::string& expected, const nlohmann::json& found);

  // The key is missing.
  Violation(const std::string& at, const std::string& expected);

  // The same violation, in a value whose own path is `above`.
  Violation below(const std::string& above) const;

 private:
  struct Problem {
    std::string text;
  };
  Violation(const Problem& problem, const std::string& at);

  Problem problem_;
  std::string at_;
};

struct ValueType;
template <class T>
struct TypeOf;  // its `value` describes T

// A key of a struct and the member that holds its value.
struct Key {
  const char* name;
  const char* help;  // one line: the meaning, and the unit where the name doesn't end in it
  Presence presence;
  const ValueType* type;  // of the member

  template <class Struct, class Value>
  constexpr Key(const char* name, Value Struct::*member, const char* help,
                Presence presence = Presence::when_known)
      : name(name),
        help(help),
        presence(presence),
        type(&TypeOf<Value>::value),
        offset_(std::bit_cast<std::ptrdiff_t>(member)) {}  // as the Itanium C++ ABI defines it

  // The member of `object`, which is of the struct whose key this is.
  void* in(void* object) const { return static_cast<char*>(object) + offset_; }
  const void* in(const void* object) const { return static_cast<const char*>(object) + offset_; }

  // The same, null unless it is a T.
  template <class T>
  T* find_in(void* object) const {
    return type == &TypeOf<T>::value ? static_cast<T*>(in(object)) : nullptr;
  }

 private:
  std::ptrdiff_t offset_;
};

// Defines a struct's keys() from its name and its keys in the order of its documentation, each a member's
// name and what it means. A key whose name isn't its member's is written as Key{"name", &Self::member,
// "meaning", presence}.
#define KEYS(Struct, ...)           \
  static constexpr auto keys() {    \
    using Self = Struct;            \
    return std::array{__VA_ARGS__}; \
  }                                 \
  static_assert(true)
#define KEY(member, ...) \
  ::harness::Key { #member, &Self::member, __VA_ARGS__ }
#define REQUIRED(member, meaning) KEY(member, meaning, ::harness::Presence::required)
#define WHEN_SET(member, meaning) KEY(member, meaning, ::harness::Presence::when_set)
#define MEASURED(member, meaning) KEY(member, meaning, ::harness::Presence::figure)

enum class Kind { boolean, integer, number, text, json, structure, optional, list, map, own };

// What a value in memory is, and how its parts are reached. Only what its kind needs is set.
struct ValueType {
  struct Elements {
    const void* first;
    size_t count;
  };
  struct Entry {
    const std::string* name;
    const void* value;
  };
  Kind kind;
  size_t bytes = 0;

  bool is_signed = false;  // of an integer: how many bits it has without its sign, and its two's complement
  int digits = 0;
  uint64_t (*load)(const void*) = nullptr;
  void (*store)(void*, uint64_t) = nullptr;

  std::span<const Key> (*keys)() = nullptr;  // of a structure
  bool as_list = false;

  const ValueType* element = nullptr;  // of an optional, which is a list of one or none, a list and a map
  Elements (*elements)(const void*) = nullptr;
  void* (*resize)(void*, size_t count) = nullptr;  // with new elements, returns the first; a map: to 0 only
  std::vector<Entry> (*entries)(const void*) = nullptr;
  void* (*add)(void*, const std::string& name) = nullptr;

  nlohmann::json (*write)(const void*) = nullptr;  // of a type with its own form in JSON
  void (*read)(void*, const nlohmann::json&) = nullptr;
};

// A type with its own form in JSON: for a specialisation of TypeOf.
template <class T>
constexpr ValueType own_type(nlohmann::json (*write)(const void*),
                             void (*read)(void*, const nlohmann::json&)) {
  return {.kind = Kind::own, .bytes = sizeof(T), .write = write, .read = read};
}

template <class T>
struct StructType {
  static std::span<const Key> keys() {
    static const auto keys = T::keys();
    return keys;
  }
  static constexpr bool kAsList = requires { T::kAsList; };
  static constexpr ValueType value{
      .kind = Kind::structure, .bytes = sizeof(T), .keys = keys, .as_list = kAsList};
};

template <class T>
struct IntegerType {
  static uint64_t load(const void* from) { return uint64_t(*static_cast<const T*>(from)); }
  static void store(void* to, uint64_t bits) { *static_cast<T*>(to) = T(bits); }
  static constexpr ValueType value{.kind = Kind::integer,
                                   .bytes = sizeof(T),
                                   .is_signed = std::is_signed_v<T>,
                                   .digits = std::numeric_limits<T>::digits,
                                   .load = load,
                                   .store = store};
};

template <class T>
struct TypeOf : std::conditional_t<std::is_integral_v<T>, IntegerType<T>, StructType<T>> {};
template <>
struct TypeOf<bool> {
  static constexpr ValueType value{.kind = Kind::boolean, .bytes = sizeof(bool)};
};
template <>
struct TypeOf<double> {
  static constexpr ValueType value{.kind = Kind::number, .bytes = sizeof(double)};
};
template <>
struct TypeOf<std::string> {
  static constexpr ValueType value{.kind = Kind::text, .bytes = sizeof(std::string)};
};
template <>
struct TypeOf<nlohmann::json> {
  static constexpr ValueType value{.kind = Kind::json, .bytes = sizeof(nlohmann::json)};
};

template <class T>
struct TypeOf<std::optional<T>> {
  static ValueType::Elements elements(const void* from) {
    const auto& optional = *static_cast<const std::optional<T>*>(from);
    return {optional ? &*optional : nullptr, optional ? 1u : 0u};
  }
  static void* resize(void* to, size_t count) {
    auto& optional = *static_cast<std::optional<T>*>(to);
    optional.reset();
    return count ? &optional.emplace() : nullptr;
  }
  static constexpr ValueType value{.kind = Kind::optional,
                                   .bytes = sizeof(std::optional<T>),
                                   .element = &TypeOf<T>::value,
                                   .elements = elements,
                                   .resize = resize};
};

template <class T>
struct TypeOf<std::vector<T>> {
  static ValueType::Elements elements(const void* from) {
    const auto& list = *static_cast<const std::vector<T>*>(from);
    return {list.data(), list.size()};
  }
  static void* resize(void* to, size_t count) {
    auto& list = *static_cast<std::vector<T>*>(to);
    list = std::vector<T>(count);
    return list.data();
  }
  static constexpr ValueType value{.kind = Kind::list,
                                   .bytes = sizeof(std::vector<T>),
                                   .element = &TypeOf<T>::value,
                                   .elements = elements,
                                   .resize = resize};
};

template <class T>
struct TypeOf<std::map<std::string, T>> {
  using Map = std::map<std::string, T>;
  static std::vector<ValueType::Entry> entries(const void* from) {
    std::vector<ValueType::Entry> list;
    for (const auto& [name, one] : *static_cast<const Map*>(from)) list.push_back({&name, &one});
    return list;
  }
  static void* add(void* to, const std::string& name) { return &(*static_cast<Map*>(to))[name]; }
  static void* resize(void* to, size_t) {
    static_cast<Map*>(to)->clear();
    return nullptr;
  }
  static constexpr ValueType value{.kind = Kind::map,
                                   .bytes = sizeof(Map),
                                   .element = &TypeOf<T>::value,
                                   .resize = resize,
                                   .entries = entries,
                                   .add = add};
};

template <class T>
inline constexpr const ValueType& kType = TypeOf<T>::value;

nlohmann::json write_value(const ValueType& type, const void* value);
// `value` was just made: a member whose key is absent stays as it is. `at`: path of the value. Throws
// Violation.
void read_value(const ValueType& type, void* value, const nlohmann::json& from, const std::string& at = "");
bool is_empty(const ValueType& type, const void* value);
std::vector<std::string> names_of_keys(const ValueType& structure);

template <class T>
nlohmann::json encode(const T& value) {
  return write_value(kType<T>, &value);
}

template <class T>
T decode(const nlohmann::json& value, const std::string& at = "") {
  T made{};
  read_value(kType<T>, &made, value, at);
  return made;
}

// Throws Violation if `object` has another version, or isn't `what` at all, e.g. "a record". Call it before
// decode(), which would name missing keys.
void require_version(const nlohmann::json& object, const std::string& key, int64_t version, const char* what);

// Moves a list out of an object, to decode its elements one by one: avoids the copy of a large list.
nlohmann::json::array_t take_list(nlohmann::json& object, const std::string& key);

}  // namespace harness
