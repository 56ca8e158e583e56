// Counts Ctrl-C (SIGINT), SIGTERM and SIGHUP (closed terminal). Every wait loop of the program checks the
// count, so finished rows are kept and reported. The first interrupt ends the rows, the second the report,
// the third the program.
#pragma once
#include <stdexcept>

namespace base {

void note_interrupts();  // installs the handlers; call once
int interrupts();        // received since then
inline bool interrupted() { return interrupts() > 0; }

struct Interrupted : std::runtime_error {
  using std::runtime_error::runtime_error;
};
void stop_if_interrupted();  // throws Interrupted

}  // namespace base
