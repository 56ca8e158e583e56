// Initialisation that every program of the suite needs.
#pragma once

namespace base {

// Call it at the start of main(), before any file is opened. Opens /dev/null for each of the descriptors 0, 1
// and 2 that is closed: otherwise the next opened file would get that number, and messages would be written
// into it. Ignores SIGPIPE and SIGXFSZ, so that a write to a closed terminal or beyond a size limit fails
// with an error instead of ending the program.
void start_program();

}  // namespace base
