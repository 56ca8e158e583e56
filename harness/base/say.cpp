// Writes to stderr with C's functions, which ignore errors, and recognises terminals.
#include "harness/base/say.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace base {

void say_text(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

bool rewrites_lines() {
  const char* terminal = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) && !(terminal && std::string_view(terminal) == "dumb");
}

}  // namespace base
