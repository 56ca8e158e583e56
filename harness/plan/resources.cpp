// Reduces cores to what the machine has or raises them to what the row needs, and says why a row can't run
// here.
#include "harness/plan/resources.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/config/row_traits.h"

namespace harness {

// GPUs of this machine; 0 when unknown or when the row's device is not a GPU.
static int64_t gpus_here(const Row& row, const AxisValues& values) {
  return trait(values, "device", row.device, &Traits::count, 0);
}

static int64_t gpus_needed(const Row& row, const Request& request) {
  return row.devices * (emulates_nodes(row, launcher_of(request)) ? row.nodes : 1);
}

static std::string why_no_nvjpeg(const Row& row, const AxisValues& values) {
  if (row.decoder == "cpu" || trait(values, "device", row.device, &Traits::nvjpeg, true)) return "";
  return "decoder " + row.decoder +
         ": this build has no nvJPEG; install the wheel nvidia-nvjpeg of "
         "scripts/requirements-cuda.txt into .venv, or the CUDA toolkit's libnvjpeg with its header, "
         "and build again";
}

std::string why_not_without_gpu(const Row& row, const AxisValues& values) {
  if (row.device == "cuda") return why_no_nvjpeg(row, values);
  const Row usual;  // without a GPU these fields have no effect: the row would equal another row
  std::vector<std::string> asked;
  const bool emulated = !computes(row.device, values);
  for (const Field& field : fields()) {
    const bool acts =
        field.acts_on == ActsOn::all || (field.acts_on == ActsOn::gpus_and_emulated && emulated);
    if (!acts && field_text(row, field) != field_text(usual, field))
      asked.push_back(fmt::format("{}={}", field.name, field_text(row, field)));
  }
  if (asked.empty()) return "";
  return fmt::format("{} need{} device cuda, but this row runs on {}", fmt::join(asked, ", "),
                     asked.size() == 1 ? "s" : "", row.device);
}

std::string why_too_few_gpus(const Row& row, const AxisValues& values, const Request& request) {
  const int64_t here = gpus_here(row, values), needed = gpus_needed(row, request);
  if (here == 0 || needed <= here || request.oversubscribe) return "";
  return fmt::format(
      "it needs {} GPUs, but this machine has {}; --oversubscribe lets ranks share one, but then scaling "
      "can't be measured",
      needed, here);
}

std::string describe_shared_gpus(const Row& row, const AxisValues& values, const Request& request) {
  const int64_t here = gpus_here(row, values), needed = gpus_needed(row, request);
  if (here == 0 || needed <= here) return "";
  return fmt::format("devices: {} share {} GPU{}", needed, here, here == 1 ? "" : "s");
}

static bool asks_for_a_number(const Row& row, const Request& request) {
  return sets(request, "cpus") || std::ranges::find(row.as_run, "cpus") != row.as_run.end();
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
