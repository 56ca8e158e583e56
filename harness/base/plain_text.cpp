// Looks at bytes, so that text that isn't UTF-8 passes unchanged otherwise.
#include "harness/base/plain_text.h"

#include <algorithm>

namespace base {

std::string plain_text(const std::string& text) {
  std::string plain;
  const auto is = [&](size_t i, unsigned char low, unsigned char high) {
    return i < text.size() && static_cast<unsigned char>(text[i]) >= low &&
           static_cast<unsigned char>(text[i]) <= high;
  };
  for (size_t i = 0, bytes; i < text.size(); i += std::max<size_t>(bytes, 1)) {
    bytes = is(i, 0xC2, 0xC2) && is(i + 1, 0x80, 0x9F) ? 2 : 0;
    if ((is(i, 0, 0x1F) && text[i] != '\n' && text[i] != '\t') || is(i, 0x7F, 0x7F)) bytes = 1;
    if (is(i, 0xE2, 0xE2) && ((is(i + 1, 0x80, 0x80) && is(i + 2, 0xA8, 0xAE)) ||  // U+2028 to U+202E
                              (is(i + 1, 0x81, 0x81) && is(i + 2, 0xA6, 0xA9))))   // U+2066 to U+2069
      bytes = 3;
    plain += bytes ? ' ' : text[i];
  }
  return plain;
}

std::string counted(int64_t number, const std::string& what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

}  // namespace base
