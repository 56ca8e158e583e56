// Derives NCCL's variables from the row's link, and sets those that the user has not set.
#include "bench/train/gpu/nccl_environment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string_view>

namespace bench {

std::string asked_network(const NcclLink& link) {
  if (link.link == "none") return "";
  return link.link == "infiniband" && !link.emulated ? "IB" : "Socket";
}

// NCCL replaces %h by the host name and %p by the process id, so % is escaped.
static std::string without_patterns(const std::string& path) {
  std::string text;
  for (const char character : path) text.append(character == '%' ? 2 : 1, character);
  return text;
}

std::map<std::string, std::string> nccl_variables(const NcclLink& link, const std::filesystem::path& log) {
  // `=` requests an exact match; otherwise eth1 would also match eth10.
  std::map<std::string, std::string> variables = {{"NCCL_SOCKET_IFNAME", "=" + link.interface}};
  if (const std::string network = asked_network(link); !network.empty()) {
    variables["NCCL_NET"] = network;       // NCCL then fails instead of falling back to another network
    variables["NCCL_MNNVL_ENABLE"] = "0";  // otherwise nodes that share NVLink would bypass the link
    variables["NCCL_ALGO"] = "Ring";       // the bytes on the link can't be predicted for trees
  }
  if (!log.empty()) {
    variables["NCCL_DEBUG"] = "INFO";
    variables["NCCL_DEBUG_SUBSYS"] = "INIT,NET,ENV";  // includes channels; nothing per collective
    variables["NCCL_DEBUG_FILE"] = without_patterns(log.string());
  }
  return variables;
}

std::set<std::string> set_nccl_environment(const std::map<std::string, std::string>& variables) {
  std::set<std::string> names;
  for (const auto& [name, value] : variables) {
    if (std::getenv(name.c_str())) continue;
    if (::setenv(name.c_str(), value.c_str(), 1) != 0)
      throw std::runtime_error(fmt::format("{}={} can't be set: {}", name, value, std::strerror(errno)));
    names.insert(name);
  }
  return names;
}

std::map<std::string, harness::NcclVariable> nccl_environment(const std::set<std::string>& set_by_row) {
  std::map<std::string, harness::NcclVariable> record;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (!text.starts_with("NCCL_") || equals == text.npos) continue;
    const std::string name(text.substr(0, equals));
    record[name] = {std::string(text.substr(equals + 1)), set_by_row.count(name) ? "row" : "user"};
  }
  return record;
}

}  // namespace bench
