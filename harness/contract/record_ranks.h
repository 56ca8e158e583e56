// Parts of a record about its ranks: where each ran, and what NCCL reported.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/contract/codec.h"

namespace harness {

struct NcclTransport {
  int64_t channels = 0;
  std::vector<int64_t> peers;
  static constexpr auto keys() {
    return known_keys(Key{"channels", &NcclTransport::channels, "number of channels from this rank"},
                      Key{"peers", &NcclTransport::peers, "the ranks at their ends"});
  }
};

struct NcclVariable {
  std::string value, set_by;
  static constexpr auto keys() {
    return known_keys(Key{"value", &NcclVariable::value, "of the variable"},
                      Key{"set_by", &NcclVariable::set_by, "row or user"});
  }
};

struct RankNccl {
  std::string version, network, asked_network, note;
  std::map<std::string, NcclTransport> transports;
  std::map<std::string, NcclVariable> environment;
  std::map<std::string, std::string> choices = {};
  static constexpr auto keys() {
    return known_keys(Key{"version", &RankNccl::version, "e.g. 2.28.9+cuda13.0, or empty"},
                      Key{"network", &RankNccl::network, "between nodes, as NCCL chose it"},
                      Key{"asked_network", &RankNccl::asked_network,
                          "that the link requests; absent with one node", Presence::when_set},
                      Key{"transports", &RankNccl::transports, "by name, e.g. NET/Socket"},
                      Key{"environment", &RankNccl::environment, "NCCL's variables by name"},
                      Key{"choices", &RankNccl::choices,
                          "of rank 0: algorithm and protocol by collective and size, for the last batch's "
                          "all-reduces and for barriers, which are small all-reduces",
                          Presence::when_set},
                      Key{"note", &RankNccl::note, "when NCCL's log names no channel", Presence::when_set});
  }
};

// The place of a rank: node, host, device and cores.
struct RankPlace {
  int64_t rank = 0, node = 0;
  std::string host, device;
  std::vector<int64_t> cpus;
  std::optional<RankNccl> nccl;
  static constexpr auto keys() {
    return known_keys(
        Key{"rank", &RankPlace::rank, "number of the rank"},
        Key{"node", &RankPlace::node, "node that it runs on"},
        Key{"host", &RankPlace::host, "host name of the node"},
        Key{"device", &RankPlace::device, "its device, e.g. cpu:0"},
        Key{"cpus", &RankPlace::cpus, "cores that it may use"},
        Key{"nccl", &RankPlace::nccl, "what NCCL chose, with backend nccl", Presence::when_set});
  }
};

}  // namespace harness
