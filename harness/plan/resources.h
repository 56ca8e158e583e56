// What a row needs of this machine: how many cores it gets, and whether there are GPUs enough.
#pragma once
#include <string>

#include "harness/config/request.h"
#include "harness/config/settings.h"

namespace harness {

// Why the row can't run on its device: it sets fields that need a GPU, or a library that this build lacks.
// Empty when it can.
std::string why_not_without_gpu(const Row& row, const AxisValues& values);

// Why the machine has too few GPUs for the row; empty when it has enough, or with --oversubscribe.
std::string why_too_few_gpus(const Row& row, const AxisValues& values, const Request& request);

// Text for a record's `emulated` when ranks share GPUs; otherwise empty.
std::string describe_shared_gpus(const Row& row, const AxisValues& values, const Request& request);

// Sets row.cpus, for ranks that this process starts, and returns a note of what changed, or an empty text.
// More cores than the machine has are clipped. On a processor, `cpus` given as a multiple of C0 becomes as
// many as replicas and loader threads need if the machine has them: the article's `cpus` only feed GPUs, and
// replicas that share a core with the loader say nothing about more devices. A plain number, --set and nodes
// that share this machine's cores keep theirs.
std::string give_cores(Row& row, int64_t cores, const Request& request);

}  // namespace harness
