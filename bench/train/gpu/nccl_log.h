// What NCCL's own log tells of the ways that it took: the INFO lines of NCCL 2.18 to 2.30. No CUDA and no
// Torch here.
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
    std::set<int> peers;  // the ranks that they lead to
  };
  std::string version;  // "2.28.9+cuda13.0"; empty where the log tells none
  std::string network;  // that NCCL chose for what leaves a node: "Socket", "IB", or a plugin's name
  std::map<std::string, Way> transports;  // "NET/Socket", "NET/IB/GDRDMA", "P2P/CUMEM", "SHM/direct", ...
  bool without_network = false;  // NCCL gave up: it couldn't open the one network it was told to take
};

// Other lines, and a last one that isn't whole, are passed over. NCCL connects two ranks at the first
// collective that needs them, so that the log is to be read after the slice. Without a file the log is empty.
NcclLog read_nccl_log(std::istream& text);
NcclLog read_nccl_log(const std::filesystem::path& file);

// {version, network, transports: {name: {channels, peers}}}, and a `note` where the log names no channel.
void to_json(nlohmann::json& object, const NcclLog& log);

}  // namespace bench
