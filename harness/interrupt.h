// Ctrl-C and SIGTERM: noted here, looked at wherever the program waits, so that finished rows are kept and
// shown.
#pragma once

namespace harness {

void note_interrupts();  // call once; a second signal ends the program at once
bool interrupted();

}  // namespace harness
