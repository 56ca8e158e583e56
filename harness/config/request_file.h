// RUN/request.json: the request of a run, for continuing it with the same options.
#pragma once
#include <set>
#include <string>

#include "harness/config/request.h"

namespace harness {

// Paths become absolute.
void write_request(const fs::path& run, const Request& request);
// Throws PreparationError with the file, the problem and the next step.
Request read_request(const fs::path& run);

// The request for continuing the run in folder `run`. `asked`: request of this command line; `given`: names
// of its options. More repeats and other limits (timeout, hang-after, port) are allowed; throws
// PreparationError for any other option that differs from the run's.
Request continued_request(const fs::path& run, const Request& asked, const std::set<std::string>& given);

}  // namespace harness
