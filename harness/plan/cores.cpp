// Reduces the number to what the machine has, or raises it to what replicas and loader threads need.
#include "harness/plan/cores.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/stats/core_needs.h"

namespace harness {

static bool asks_for_a_number(const Row& row, const Request& request) {
  return sets(request, "cpus") || std::find(row.as_run.begin(), row.as_run.end(), "cpus") != row.as_run.end();
}

std::string give_cores(Row& row, int64_t cores, const Request& request) {
  const std::string launcher = launcher_of(request);
  if (launcher != "local" || emulates_cores(row)) return "";
  const int64_t asked = row.cpus, needed = cores_needed(row, true);
  if (asked > cores) {
    row.cpus = cores;
    return fmt::format("cpus: {} clipped to {}", asked, cores);
  }
  if (row.device != "cpu" || asked >= needed || needed > cores || asks_for_a_number(row, request) ||
      emulates_nodes(row, launcher))
    return "";
  row.cpus = needed;
  return fmt::format("cpus: {} raised to {}, one for each loader thread and each replica's computing", asked,
                     needed);
}

}  // namespace harness
