// Reads a rank's place among the row's processes from its environment.
#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "bench/backend/group.h"

namespace bench {

static int number_from(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  if (!text) return otherwise;
  int value = 0;
  const char* end = text + std::strlen(text);
  if (auto [stop, error] = std::from_chars(text, end, value); error != std::errc() || stop != end)
    throw std::invalid_argument(fmt::format("{}={}: expected a whole number", variable, text));
  return value;
}

RankInfo rank_from_environment() {
  RankInfo info;
  info.rank = number_from("RANK", 0);
  info.world_size = number_from("WORLD_SIZE", 1);
  info.local_rank = number_from("LOCAL_RANK", info.rank);
  info.local_world_size = number_from("LOCAL_WORLD_SIZE", info.world_size);
  info.node = number_from("GROUP_RANK", 0);
  if (const char* address = std::getenv("MASTER_ADDR")) info.master_addr = address;
  info.master_port = number_from("MASTER_PORT", 0);
  info.listen_fd = number_from("MASTER_LISTEN_FD", -1);
  if (info.rank < 0 || info.rank >= info.world_size)
    throw std::invalid_argument(
        fmt::format("RANK={} is not below WORLD_SIZE={}", info.rank, info.world_size));
  return info;
}

}  // namespace bench
