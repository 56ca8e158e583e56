// Environment variables for NCCL: select the network and log the transports in use. No CUDA and no Torch
// here.
#pragma once
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "harness/contract/record_parts.h"

namespace bench {

struct NcclLink {
  std::string link = "none", interface = "lo";
  bool emulated = false;  // LinkOptions::emulated: always a veth pair
};

// NCCL's name (NCCL_NET) of the network between the nodes of a row; empty with one node.
std::string asked_network(const NcclLink& link);

// The variables as {name: value}. log: NCCL's log file; empty: no log.
std::map<std::string, std::string> nccl_variables(const NcclLink& link, const std::filesystem::path& log);

// Sets the variables that are not set yet (the user's values take precedence) and returns their names. Call
// it before NCCL is used, which reads each variable once, and while no other thread reads the environment.
// Throws std::runtime_error if setenv fails.
std::set<std::string> set_nccl_environment(const std::map<std::string, std::string>& variables);

// For the record: every NCCL_* variable. After NCCL's start this includes values from its configuration
// files.
std::map<std::string, harness::NcclVariable> nccl_environment(const std::set<std::string>& set_by_row);

}  // namespace bench
