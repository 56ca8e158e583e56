#include "harness/nightly/canary_check.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "harness/base/child_process.h"
#include "harness/base/json_text.h"

namespace harness {

using nlohmann::json;

Canaries measure_canaries(const std::filesystem::path& train_slice, std::ostream& console) {
  Canaries canaries;
  std::string problem;
  try {
    const base::Finished finished = base::run_to_end({{train_slice, "--canaries"}, {}, {}, {}, {}});
    const json measured = base::parse_json(finished.output);
    if (finished.exit_code != 0 || !measured.is_object())
      problem = fmt::format("exit code {}", finished.exit_code);
    else
      for (const auto& [name, ms] : measured.items())
        if (ms.is_number() && ms.get<double>() > 0 && std::isfinite(ms.get<double>())) canaries[name] = ms;
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

Canaries canaries_of_night(const Canaries& before, const Canaries& after, std::ostream& console) {
  Canaries night = after;
  for (const auto& [name, ms] : before) {
    const auto later = after.find(name);
    night[name] = later == after.end() ? ms : (ms + later->second) / 2;
    if (later != after.end() && std::abs(later->second / ms - 1) > kCanaryDrift)
      fmt::print(
          console,
          "canary {}: {:.3f} before the rows, {:.3f} after them ({:+.0f} %): the machine changed during "
          "the night\n",
          name, ms, later->second, 100 * (later->second / ms - 1));
  }
  return night;
}

}  // namespace harness
