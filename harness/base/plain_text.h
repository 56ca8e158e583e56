// Text of unknown origin (records, names of files and hosts) for a terminal, a table or a page.
#pragma once
#include <cstdint>
#include <string>

namespace base {

// Blanks instead of what a terminal or an editor takes as a command: control characters of ASCII (except tab
// and newline) and of Unicode (U+0080 to U+009F), line separators, and changes of the direction of writing.
std::string plain_text(const std::string& text);

// `1 row`, `2 rows`.
std::string counted(int64_t number, const std::string& what);

}  // namespace base
