// Names and addresses of the two nodes that emulate/two_nodes.h emulates on one machine.
#pragma once
#include <string>

namespace harness::emulated {

inline constexpr const char* kInterface = "link0";  // each node's end of the link
inline constexpr const char* kNetwork = "10.77.0.0/24";
inline std::string host(int node) { return node == 0 ? "node0" : "node1"; }
inline std::string address(int node) { return node == 0 ? "10.77.0.1" : "10.77.0.2"; }

}  // namespace harness::emulated
