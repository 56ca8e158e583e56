#include "bench/train/link/host_channel_adapter.h"

#include <fstream>

namespace bench {

namespace fs = std::filesystem;

static std::string first_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

static int64_t words(const fs::path& counter) {
  std::ifstream stream(counter);
  int64_t value = 0;
  stream >> value;
  return value;
}

LinkBytes bytes_of_adapters(const fs::path& root) {
  LinkBytes bytes;
  int active = 0;
  std::error_code error;
  for (const auto& adapter : fs::directory_iterator(root, error))
    for (const auto& port : fs::directory_iterator(adapter.path() / "ports", error)) {
      if (first_line(port.path() / "link_layer") != "InfiniBand") continue;
      if (first_line(port.path() / "state").find("ACTIVE") == std::string::npos) continue;
      ++active;
      bytes.sent += 4 * words(port.path() / "counters" / "port_xmit_data");
      bytes.received += 4 * words(port.path() / "counters" / "port_rcv_data");
    }
  if (active == 0)
    throw WrongLink("link infiniband: this node has no active InfiniBand port (" + root.string() +
                    "); run the row with --set link=ethernet, or check the adapter with ibstat");
  return bytes;
}

}  // namespace bench
