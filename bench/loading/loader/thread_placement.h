// Where loader threads run: on one core each, or only where no other thread wants the core.
#pragma once
#include <thread>

namespace bench {

// Lets the calling thread run only on cores that are otherwise idle (SCHED_IDLE). If the kernel refuses,
// results stay the same, but ranks wait longer for a core.
void yield_to_others();

// Pins the thread to one of the cores that the process may use; numbers beyond them start again at the first.
// Best effort: fails silently if the container has lost the core since start.
void pin_to_core(std::thread& thread, int number);

}  // namespace bench
