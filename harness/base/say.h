// Messages for the person at the terminal.
#pragma once
#include <fmt/format.h>

#include <string>

namespace base {

// Writes to stderr. Errors are ignored (closed terminal, full disk behind a redirection): a message must
// never stop a measurement, and fmt::print would throw.
void say_text(const std::string& text);

// Whether stderr is a terminal that can replace a line by another: one with TERM=dumb can't.
bool rewrites_lines();

template <typename... Values>
void say(fmt::format_string<Values...> format, Values&&... values) {
  say_text(fmt::format(format, std::forward<Values>(values)...));
}

}  // namespace base
