// Numbers in text.
#pragma once
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <type_traits>

namespace base {

// The whole text as a number of that type, without blanks or `+`. Nothing for any other text, a number that
// the type can't hold, infinity and NaN.
template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  if constexpr (std::is_floating_point_v<Number>)
    if (!std::isfinite(number)) return std::nullopt;
  return number;
}

}  // namespace base
