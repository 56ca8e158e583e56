// What this machine's loader delivers, and how many devices that feeds: real work, nothing emulated.
#pragma once
#include <ostream>

#include "harness/config/installation.h"
#include "harness/config/request.h"

namespace harness {

// Runs the rows of configs/machine.yaml on the processor, as a run of its own in request.out; `data`, `seed`,
// `set`, `only` and `repeats` of the request count. Prints the answer (report/summary/machine_answer.h) last.
// Returns the exit code. Throws ConfigError or PreparationError before anything has run.
int run_machine(const Installation& installation, Request request, std::ostream& console);

}  // namespace harness
