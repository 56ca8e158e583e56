// Lists the keys of a struct of the contract and of its parts with their meanings, for documentation.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/contract/codec.h"

namespace harness {

struct KeyLine {
  std::string path;  // `rank_map[].host`; [] for every element of a list, NAME for those of a map
  std::string help;
};

namespace detail {

template <class T>
struct Element {  // type of a member's elements, and the suffix of their keys' path
  using Type = T;
  static constexpr const char* kSuffix = "";
};
template <class T>
struct Element<std::optional<T>> : Element<T> {};
template <class T>
struct Element<std::vector<T>> {
  using Type = T;
  static constexpr const char* kSuffix = "[]";
};
template <class T>
struct Element<std::map<std::string, T>> {
  using Type = T;
  static constexpr const char* kSuffix = ".NAME";
};

}  // namespace detail

template <Keyed T>
void add_keys(const std::string& before, std::vector<KeyLine>& lines) {
  const auto add = [&]<class Member>(const Key<T, Member>& key) {
    using Inner = detail::Element<Member>;
    const std::string path = before + key.name;
    lines.push_back({path, key.help});
    if constexpr (Keyed<typename Inner::Type> && !Listed<typename Inner::Type>)
      add_keys<typename Inner::Type>(path + Inner::kSuffix + ".", lines);
  };
  std::apply([&](const auto&... key) { (add(key), ...); }, T::keys());
}

}  // namespace harness
