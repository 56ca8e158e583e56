// Derives the launcher, the number of repeats and the time limit from what the user gave.
#include "harness/config/request.h"

#include <algorithm>
#include <cstdlib>

namespace harness {

std::string launcher_of(const Request& request) {
  if (request.launcher != "auto") return request.launcher;
  if (!request.hosts.empty() || !request.hostfile.empty()) return "mpirun";
  if (std::getenv("TORCHELASTIC_RUN_ID")) return "env";
  const char* nodes = std::getenv("SLURM_JOB_NUM_NODES");
  return nodes && std::atoi(nodes) > 1 ? "slurm" : "local";
}

bool emulates_nodes(const Row& row, const std::string& launcher) {
  return launcher == "local" && row.nodes > 1;
}

bool sets(const Request& request, const std::string& field) {
  return std::any_of(request.set.begin(), request.set.end(),
                     [&](const std::string& text) { return text.rfind(field + "=", 0) == 0; });
}

bool is_plain(const Request& request) {
  return request.only.empty() && request.set.empty() && request.repeats == 0 && request.budget_s == 0 &&
         request.devices == 0 && request.trace.empty() && request.wrap.empty() && !request.accuracy;
}

double repeat_limit_s(const Request& request) {
  constexpr double kUsual_s = 900;
  const double limit_s = request.repeat_within_s < 0 ? kUsual_s : request.repeat_within_s;
  return request.budget_s > 0 ? std::min(limit_s, request.budget_s) : limit_s;
}

int64_t repeats_of(const Row& row, const Request& request) {
  constexpr int64_t kSeeds = 3;  // accuracy is shown as a range over seeds
  return request.repeats > 0 ? request.repeats : row.validation ? kSeeds : 1;
}

}  // namespace harness
