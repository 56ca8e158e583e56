// Runs `train_slice --canaries`, averages the two measurements, and reports canaries that differ.
#include "harness/nightly/canary_check.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <cmath>
#include <stdexcept>

#include "harness/base/child_process.h"
#include "harness/base/json_text.h"
#include "harness/contract/codec.h"
#include "harness/experiment/policy/policy.h"

namespace harness {

Canaries measure_canaries(const std::filesystem::path& train_slice, std::ostream& console) {
  Canaries canaries;
  std::string problem;
  try {
    const base::Finished finished = base::run_to_end({{train_slice, "--canaries"}, {}, {}, {}, {}});
    if (finished.exit_code != 0)
      problem = fmt::format("exit code {}", finished.exit_code);
    else
      canaries = decode<Canaries>(base::require_json(finished.output));
    std::erase_if(canaries, [](const auto& one) { return !(one.second > 0) || !std::isfinite(one.second); });
  } catch (const std::runtime_error& error) {
    problem = error.what();
  }
  if (!problem.empty())
    fmt::print(console,
               "warning: {} --canaries failed ({}): without canaries a slower machine can't be distinguished "
               "from slower software\n",
               train_slice.string(), problem);
  return canaries;
}

Canaries canaries_of_night(const Canaries& before, const Canaries& after) {
  Canaries night = after;
  for (const auto& [name, ms] : before) {
    const auto later = after.find(name);
    night[name] = later == after.end() ? ms : (ms + later->second) / 2;
  }
  return night;
}

std::string moved_canaries(const Canaries& before, const Canaries& after) {
  std::string lines;
  for (const auto& [name, ms] : before) {
    const auto later = after.find(name);
    if (later != after.end() && std::abs(later->second / ms - 1) > kCanaryDrift)
      lines += fmt::format(
          "canary {}: {:.3f} ms before the rows, {:.3f} ms after them ({:+.0f} %): the machine changed "
          "during the night\n",
          name, ms, later->second, 100 * (later->second / ms - 1));
  }
  return lines;
}

}  // namespace harness
