// Checks the nodes that --hosts and --hostfile name for mpirun.
#pragma once
#include <filesystem>
#include <string>

namespace harness {

// What is wrong with a list `host[:slots],...`, where slots is a whole number above 0; empty when it is
// valid.
std::string hosts_problem(const std::string& hosts);

// The same for a file in OpenMPI's format: a host on each line, then words such as slots=4; # begins a
// comment.
std::string hostfile_problem(const std::filesystem::path& file);

}  // namespace harness
