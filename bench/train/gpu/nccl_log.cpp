// Searches each log line for known phrases, and counts channels per transport and per peer rank.
#include "bench/train/gpu/nccl_log.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <optional>
#include <regex>

namespace bench {
namespace {

// The rest of the line after `words`; empty optional if the line doesn't contain them.
std::optional<std::string> after(const std::string& line, const char* words) {
  const size_t at = line.find(words);
  if (at == std::string::npos) return std::nullopt;
  std::string rest = line.substr(at + std::string(words).size());
  while (!rest.empty() && std::isspace(static_cast<unsigned char>(rest.back()))) rest.pop_back();
  return rest;
}

// Shortens e.g. NET/IB/0(2)/GDRDMA/Shared or P2P/CUMEM/read to kind and name. Of the rest (adapter number,
// proxy rank, options) only GPU Direct RDMA is kept, because it is a different data path.
std::string transport_name(const std::string& way) {
  const std::string name = way.substr(0, way.find('/', way.find('/') + 1));
  const bool direct = way.starts_with("NET/") && way.find("/GDRDMA") != std::string::npos;
  return direct ? name + "/GDRDMA" : name;
}

// "Channel 03/0 : 0[0] -> 4[1] [send] via NET/Socket/0": channel and connection number, ranks and their GPUs.
// SHM lines have no connection number.
void read_channel(const std::string& line, NcclLog& log) {
  const std::optional<std::string> way = after(line, " via ");
  const size_t start = line.find("Channel ");
  if (!way || way->find('/') == std::string::npos || start == std::string::npos) return;
  if (line.find("[receive]") != std::string::npos) return;  // the sender logs the same channel
  int peer = 0;
  for (const char* format :
       {"Channel %*9d/%*9d : %*9d[%*[0-9a-f]] -> %9d[", "Channel %*9d : %*9d[%*[0-9a-f]] -> %9d["})
    if (std::sscanf(line.c_str() + start, format, &peer) == 1) {
      harness::NcclTransport& found = log.facts.transports[transport_name(*way)];
      ++found.channels;
      const auto place = std::lower_bound(found.peers.begin(), found.peers.end(), peer);
      if (place == found.peers.end() || *place != peer) found.peers.insert(place, peer);
      return;
    }
}

void read_line(const std::string& line, NcclLog& log) {
  if (line.find("Channel ") != std::string::npos) return read_channel(line, log);
  if (const auto network = after(line, "Using network ")) log.facts.network = *network;
  if (const auto version = after(line, "NCCL version ");
      version && std::isdigit(static_cast<unsigned char>((*version)[0])))
    log.facts.version = version->substr(0, version->find(' '));
  if (line.find("Failed to initialize any NET plugin") != std::string::npos) log.without_network = true;
}

}  // namespace

NcclLog read_nccl_log(std::istream& text) {
  NcclLog log;
  for (std::string line; std::getline(text, line) && !text.eof();) read_line(line, log);
  if (log.facts.transports.empty())
    log.facts.note =
        "NCCL's log contains no channel; it does if the row sets NCCL_DEBUG, NCCL_DEBUG_SUBSYS and "
        "NCCL_DEBUG_FILE";
  return log;
}

std::map<std::string, std::string> read_nccl_choices(std::istream& text) {
  static const std::regex choice(
      R"((?:(\w+)(?: \[Symmetric\])?: )?(\d+) Bytes -> (Algo \w+ proto|Kernel) (\w+))");
  std::map<std::string, std::string> found;
  std::smatch part;
  for (std::string line; std::getline(text, line) && !text.eof();)
    if (std::regex_search(line, part, choice))
      found[(part[1].matched ? part[1].str() + " " : "") + part[2].str() + " bytes"] =
          part[3].str() + " " + part[4].str();
  return found;
}

NcclLog read_nccl_log(const std::filesystem::path& file) {
  std::ifstream text(file);
  return read_nccl_log(text);
}

}  // namespace bench
