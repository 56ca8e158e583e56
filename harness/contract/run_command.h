// The command line of a run, from its request.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace harness {

// A shell line that starts `program` with the options of `request`: an object of options by their name on the
// command line, as in RUN/request.json. Options with their default are left out (except seed and
// timeout), and so is `out`, because a run's folder takes no second run. Paths inside `project` become
// relative to it, so the line is meant for that folder.
std::string run_command(const std::string& program, const nlohmann::json& request,
                        const std::filesystem::path& project);

}  // namespace harness
