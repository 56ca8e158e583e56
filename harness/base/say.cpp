#include "harness/base/say.h"

#include <cstdio>

namespace base {

void say_text(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace base
