// Parses the transports in use from NCCL's log: INFO lines of NCCL 2.18 to 2.30. No CUDA and no Torch here.
#pragma once
#include <filesystem>
#include <istream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace bench {

struct NcclLog {
  struct Way {
    int channels = 0;     // from this rank
    std::set<int> peers;  // the ranks at their other end
  };
  std::string version;                    // e.g. "2.28.9+cuda13.0"; empty: not in the log
  std::string network;                    // between nodes: "Socket", "IB", or a plugin's name
  std::map<std::string, Way> transports;  // "NET/Socket", "NET/IB/GDRDMA", "P2P/CUMEM", "SHM/direct", ...
  bool without_network = false;           // NCCL could not open the network of NCCL_NET
};

// Ignores other lines and an incomplete last line. Read the log after the slice, because NCCL connects two
// ranks at the first collective that needs it. A missing file gives an empty log.
NcclLog read_nccl_log(std::istream& text);
NcclLog read_nccl_log(const std::filesystem::path& file);

// {version, network, transports: {name: {channels, peers}}}, with a `note` if the log contains no channel.
void to_json(nlohmann::json& object, const NcclLog& log);

}  // namespace bench
