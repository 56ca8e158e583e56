// Ctrl-C (SIGINT), SIGTERM and SIGHUP (a closed terminal): counted here, looked at wherever the program
// waits, so that finished rows are kept and shown. The first ends the rows, the second the report about them,
// the third the program at once.
#pragma once

namespace base {

void note_interrupts();  // call once
int interrupts();        // since then
inline bool interrupted() { return interrupts() > 0; }

}  // namespace base
