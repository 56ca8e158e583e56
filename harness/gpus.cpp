#include "harness/gpus.h"

#include <fmt/format.h>

#include "harness/rank_commands.h"

namespace harness {

// Of this machine, which is every node of a row where one machine stands in for them; 0 where nothing is
// counted.
static int64_t gpus_here(const Row& row, const AxisValues& values) {
  const nlohmann::json* device = find_value(values, "device", row.device);
  return device ? device->value(nlohmann::json::json_pointer("/traits/count"), int64_t(0)) : 0;
}

static int64_t gpus_needed(const Row& row, const Request& request) {
  return row.devices * (emulates_nodes(row, launcher_of(request)) ? row.nodes : 1);
}

std::string why_too_few_gpus(const Row& row, const AxisValues& values, const Request& request) {
  const int64_t here = gpus_here(row, values), needed = gpus_needed(row, request);
  if (here == 0 || needed <= here || request.oversubscribe) return "";
  return fmt::format(
      "it needs {} GPUs and this machine has {}; --oversubscribe lets ranks share one, which says nothing of "
      "scaling",
      needed, here);
}

std::string describe_shared_gpus(const Row& row, const AxisValues& values, const Request& request) {
  const int64_t here = gpus_here(row, values), needed = gpus_needed(row, request);
  if (here == 0 || needed <= here) return "";
  return fmt::format("devices: {} share {} GPU{}", needed, here, here == 1 ? "" : "s");
}

}  // namespace harness
