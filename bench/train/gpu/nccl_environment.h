// What NCCL is told through its environment: which network to take, and to write down what it took. No CUDA
// and no Torch here.
#pragma once
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace bench {

struct NcclLink {
  std::string link = "none", interface = "lo";
  bool emulated = false;  // LinkOptions::emulated: nothing but a veth pair, whatever the link's name
};

// The network, by NCCL's name for it, that is to join the nodes of a row; empty with one node.
std::string asked_network(const NcclLink& link);

// {name: value}. NCCL writes its log to the file; without one it is asked for none.
std::map<std::string, std::string> nccl_variables(const NcclLink& link, const std::filesystem::path& log);

// Sets the variables that this process doesn't have yet, and returns their names; what is there already is
// the user's. NCCL reads each of them once: call it before NCCL, and while no other thread reads the
// environment.
std::set<std::string> set_nccl_environment(const std::map<std::string, std::string>& variables);

// For the record: every NCCL_* variable as {name: {value, set_by}}, where set_by is `row` or `user`. Once
// NCCL runs, they include what it read from its own configuration files.
nlohmann::json nccl_environment(const std::set<std::string>& set_by_row);

}  // namespace bench
