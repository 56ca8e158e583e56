// RUN/request.json: what a run was asked to do, so that it can be continued as it began.
#pragma once
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "harness/config/request.h"

namespace harness {

// Keys are the names of the command line's options; `config` holds the matrices. Paths become absolute.
nlohmann::json to_json(const Request& request);

void write_request(const fs::path& run, const Request& request);
// Throws PreparationError that names the file, what is wrong and the next step.
Request read_request(const fs::path& run);

// The request of the run in `run`, continued. `asked`: what this command line says, `given`: which options it
// named. Repeats may become more, and the limits (timeout, hang-after, port) others; throws PreparationError
// for any other option that says otherwise than the run did.
Request continued_request(const fs::path& run, const Request& asked, const std::set<std::string>& given);

}  // namespace harness
