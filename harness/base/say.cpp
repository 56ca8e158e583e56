// Writes to stderr with C's functions, which ignore errors, and recognises terminals.
#include "harness/base/say.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "harness/base/plain_text.h"

namespace base {

void say_text(const std::string& text) {
  // A line that replaces the last one begins with commands to the terminal; it shows nothing of others.
  std::fputs((text.starts_with('\r') ? text : plain_text(text)).c_str(), stderr);
  std::fflush(stderr);
}

bool rewrites_lines() {
  const char* terminal = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) && !(terminal && std::string_view(terminal) == "dumb");
}

}  // namespace base
