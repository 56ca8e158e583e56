// Runs `train_slice --canaries` and reports canaries that differ; looks through the GPUs of each rank of each
// row.
#include "harness/nightly/machine_health.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <cmath>
#include <stdexcept>

#include "harness/base/child_process.h"
#include "harness/base/json_text.h"
#include "harness/contract/codec.h"
#include "harness/experiment/policy/policy.h"
#include "harness/report/summary/grid.h"

namespace harness {

Canaries measure_canaries(const std::filesystem::path& train_slice, std::ostream& console) {
  Canaries canaries;
  std::string problem;
  try {
    const base::Finished finished = base::run_to_end({{train_slice, "--canaries"}});
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

namespace {

void look_at(const GpuFacts& gpu, const std::string& name, std::vector<std::string>& faults) {
  const auto counted = [&](const char* figure, const char* what) {
    if (const double count = gpu.figure(figure).value_or(0); count > 0)
      add_once(faults, fmt::format("{}: {:.0f} {}", name, count, what));
  };
  counted("ecc_errors", "uncorrected memory errors since the driver was loaded");
  counted("nvlink_errors", "errors of NVLinks since the driver was loaded");
  const auto says = [&](const char* figure, const char* what) {
    if (gpu.figure(figure).value_or(0) > 0) add_once(faults, name + ": " + what);
  };
  says("remapping_failed", "rows of its memory could not be replaced: the board needs replacing");
  says("remapping_pending", "rows of its memory are replaced at the next reset");
  says("retired_pages_pending", "pages of its memory are retired at the next reset");
  const auto link = [&](const char* now, const char* most, const char* what) {
    const auto is = gpu.figure(now), could = gpu.figure(most);
    if (is && could && *is > 0 && *is < *could)
      add_once(faults,
               fmt::format("{}: PCIe {} {:.0f} of {:.0f} that GPU and slot can", name, what, *is, *could));
  };
  link("pcie_generation", "pcie_max_generation", "generation");
  link("pcie_width", "pcie_max_width", "lanes");
}

}  // namespace

std::vector<std::string> gpu_faults(const Records& records) {
  std::vector<std::string> faults;
  for (const Record& record : records)
    for (const RankGpu& gpu : record.gpu) {
      std::vector<std::string> names;
      for (const GpuFacts& device : gpu.devices) {
        names.push_back(device.uuid.empty() ? fmt::format("GPU of rank {}", gpu.rank) : device.uuid);
        look_at(device, names.back(), faults);
        const auto most = device.figure("max_sm_clock_mhz");
        if (most && gpu.sm_clock_mhz && gpu.sm_clock_mhz->mean < kLeastClock * *most)
          add_once(faults, fmt::format("{}: its clock was {:.0f} of {:.0f} MHz in row {}", names.back(),
                                       gpu.sm_clock_mhz->mean, *most, record.row));
      }
      if (gpu.throttled_share.value_or(0) > kThrottledShare)
        add_once(faults,
                 fmt::format("{}: throttled in {:.0f} % of the readings of row {}: {}",
                             fmt::join(names, ", "), 100 * *gpu.throttled_share, record.row,
                             fmt::join(gpu.throttle_reasons.value_or(std::vector<std::string>()), ", ")));
    }
  return faults;
}

}  // namespace harness
