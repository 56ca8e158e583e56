// How many of the machine's cores a row gets.
#pragma once
#include <string>

#include "harness/config/request.h"

namespace harness {

// Sets row.cpus, for ranks that this process starts, and returns a note of what changed, or an empty text.
// More cores than the machine has are clipped. On a processor, `cpus` given as a multiple of C0 becomes as
// many as replicas and loader threads need if the machine has them: the article's `cpus` only feed GPUs, and
// replicas that share a core with the loader say nothing about more devices. A plain number, --set and nodes
// that share this machine's cores keep theirs.
std::string give_cores(Row& row, int64_t cores, const Request& request);

}  // namespace harness
