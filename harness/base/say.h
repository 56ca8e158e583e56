// Messages for the person at the terminal.
#pragma once
#include <fmt/format.h>

#include <string>

namespace base {

// Writes to stderr. A message that can't be written (closed terminal, full disk behind a redirection) is lost
// without an error: it must never stop a measurement, which fmt::print would do by throwing.
void say_text(const std::string& text);

template <typename... Values>
void say(fmt::format_string<Values...> format, Values&&... values) {
  say_text(fmt::format(format, std::forward<Values>(values)...));
}

}  // namespace base
