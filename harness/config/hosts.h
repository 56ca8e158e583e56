// The nodes that --hosts and --hostfile name for mpirun, checked before anything is started.
#pragma once
#include <filesystem>
#include <string>

namespace harness {

// What is wrong with `host[:slots],...`, slots being a whole number above 0; empty for a good list.
std::string hosts_problem(const std::string& hosts);

// The same of a file in OpenMPI's format: a host on each line, then words such as slots=4; # begins a comment.
std::string hostfile_problem(const std::filesystem::path& file);

}  // namespace harness
