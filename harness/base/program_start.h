// What each program of the suite does first.
#pragma once

namespace base {

// Call it at the start of main(), before anything opens a file.
// Opens /dev/null as those of the descriptors 0, 1 and 2 that are closed: otherwise the next file that is
// opened would get that number, and messages would be written into it. Ignores SIGPIPE and SIGXFSZ, so that a
// write to a closed terminal or beyond a size limit fails with an error that the caller reports, instead of
// ending the program.
void start_program();

}  // namespace base
