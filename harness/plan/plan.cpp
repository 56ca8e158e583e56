#include "harness/plan/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/plan/gpus.h"
#include "harness/base/machine.h"
#include "harness/emulate/remote_storage.h"
#include "harness/launch/srun.h"
#include "harness/run/trace.h"
#include "harness/emulate/two_nodes.h"
#include "harness/launch/wrap.h"

namespace harness {

constexpr double kSlowestPrecision =
    3;  // times the FP32 step; slower ones are emulated and say nothing of the mode

static std::string why_missing(const Row& row, const AxisValues& values) {
  for (const Field& field : fields()) {
    if (!field.axis) continue;
    const nlohmann::json* value = find_value(values, field.axis, field_text(row, field.name));
    if (value && !value->value("missing", "").empty()) return value->at("missing").get<std::string>();
  }
  const int64_t share = (row.batch + row.devices - 1) / row.devices;
  if (!trait(values, "strategy", row.strategy, "process_per_device", false) &&
      share * (row.devices - 1) >= row.batch)
    return fmt::format("{} images over {} devices in shares of {} leave a device without any", row.batch,
                       row.devices, share);
  return "";
}

// What the launcher can't do for a row.
static std::string why_not_launched(const Row& row, const AxisValues& values, const Request& request) {
  const std::string launcher = launcher_of(request);
  const bool mpi = trait(values, "backend", row.backend, "started_by_mpi", false);
  if (launcher == "env" && mpi)
    return "MPI ranks are started by mpirun or srun, not through the environment; --set backend=gloo runs "
           "the row";
  if (launcher == "env") {
    const char* size = std::getenv("WORLD_SIZE");
    if (const int64_t ranks = world_size(row, values); !size || std::to_string(ranks) != size)
      return fmt::format("the row has {} ranks and WORLD_SIZE is {}", ranks, size ? size : "not set");
  }
  if (const auto named = std::count(request.hosts.begin(), request.hosts.end(), ',') + 1;
      launcher == "mpirun" && !request.hosts.empty() && named < row.nodes)
    return fmt::format("the row has {} nodes and --hosts names {}", row.nodes, named);
  if (launcher == "local" && mpi && !program_exists("mpirun"))
    return "there is no mpirun: install openmpi-bin";
  if (launcher == "slurm" && !std::getenv("SLURM_JOB_ID"))
    return "not inside a Slurm allocation: start this command with salloc or sbatch";
  if (launcher == "slurm")
    if (const std::string why = why_not_in_allocation(row, values); !why.empty()) return why;
  if (const std::string service = service_of(values, row.storage); !service.empty()) {
    const std::string why = why_no_remote_storage(row, service, launcher);
    if (!why.empty()) return why;
  }
  if (!emulates_nodes(row, launcher)) return "";
  if (row.nodes > 2)
    return fmt::format("{} nodes: one machine stands in for two at most; name real ones with --hosts",
                       row.nodes);
  return why_no_two_nodes();
}

static std::string why_too_slow(const Row& row, const PrecisionTimes& times) {
  const auto mode = times.find(row.precision), reference = times.find("o0");
  if (mode == times.end() || reference == times.end() ||
      mode->second <= kSlowestPrecision * reference->second)
    return "";
  const auto instructions = sixteen_bit_instructions();
  return fmt::format(
      "{} takes {:.1f} times as long as o0 here ({:.1f} against {:.1f} ms a step){}; --slow runs it all the "
      "same",
      row.precision, mode->second / reference->second, mode->second, reference->second,
      instructions.empty() ? ": the processor lacks 16-bit instructions (AVX512-BF16 or AMX-BF16)" : "");
}

std::vector<PlannedRow> make_plan(const std::vector<Row>& rows, const AxisValues& values,
                                  const PrecisionTimes& times, const Request& request) {
  const int64_t cores = int64_t(available_cpus().size());
  std::vector<PlannedRow> plan;
  for (const Row& row : rows) {
    PlannedRow planned{row, why_missing(row, values), {}};
    if (planned.skip_reason.empty()) planned.skip_reason = why_not_without_gpu(row, values);
    if (planned.skip_reason.empty()) planned.skip_reason = why_too_few_gpus(row, values, request);
    if (planned.skip_reason.empty()) planned.skip_reason = why_not_launched(row, values, request);
    if (planned.skip_reason.empty() && !request.slow) planned.skip_reason = why_too_slow(row, times);
    if (emulates_nodes(row, launcher_of(request)))
      planned.notes.push_back(fmt::format("{} nodes share the cores of this machine", row.nodes));
    if (const auto batches = traced_batches(request, row)) planned.notes.push_back(describe(*batches));
    if (!request.wrap.empty()) planned.notes.push_back(describe_wrap(request));
    if (row.cpus > cores && launcher_of(request) == "local") {
      planned.notes.push_back(fmt::format("cpus: {} clipped to {}", row.cpus, cores));
      planned.row.cpus = cores;
    }
    plan.push_back(std::move(planned));
  }
  return plan;
}

// Network and data must agree; ImageNet's thousand outputs for forty classes would learn more slowly.
static void fit_to_classes(PlannedRow& planned, const Data& data) {
  if (data.validation.empty())
    planned.skip_reason =
        "--data has no folder val: accuracy is measured on images that were not trained on; add "
        "val/<class>/<image>.JPEG with the class folders of train, or leave --data out for stand-in classes";
  else
    planned.row.classes = data.description.classes.value_or(planned.row.classes);
}

void check_data(std::vector<PlannedRow>& plan, const DataSets& sets) {
  for (PlannedRow& planned : plan) {
    const Row& row = planned.row;
    const Data& data = sets.of(row);
    if (row.validation && planned.skip_reason.empty()) fit_to_classes(planned, data);
    if (row.cache == "cold" && images_read(row) > data.images())
      planned.skip_reason =
          fmt::format("a cold row reads each image at most once: it needs {} images and the data has {}",
                      images_read(row), data.images());
    if (planned.skip_reason.empty() && row.storage != "synthetic" && images_read(row) > data.images())
      planned.notes.push_back(fmt::format("reads each of {} images {:.1f} times", data.images(),
                                          double(images_read(row)) / double(data.images())));
    if (const auto note = data.notes.find(row.storage); note != data.notes.end())
      planned.notes.push_back(fmt::format("{}: {}", row.storage, note->second));
  }
}

int64_t repeats_of(const Row& row, const Request& request) {
  constexpr int64_t kSeeds = 3;  // a range over seeds needs more than one
  return request.repeats > 0 ? request.repeats : row.validation ? kSeeds : 1;
}

std::vector<RowRun> all_runs(const std::vector<PlannedRow>& plan, const Request& request) {
  std::vector<RowRun> runs;
  bool more = true;
  for (int64_t repeat = 0; more; ++repeat) {
    more = false;
    for (size_t row = 0; row < plan.size(); ++row) {
      if (repeat >= repeats_of(plan[row].row, request)) continue;
      runs.push_back({row, repeat});
      more = true;
    }
  }
  return runs;
}

std::string describe_plan(const std::vector<PlannedRow>& plan, const Scale& scale) {
  const auto skipped =
      std::count_if(plan.begin(), plan.end(), [](const auto& p) { return !p.skip_reason.empty(); });
  std::string text = fmt::format("plan: {} of {} rows run at scale {}: {}\n", plan.size() - size_t(skipped),
                                 plan.size(), scale.name, scale.summary);
  for (const PlannedRow& planned : plan)
    if (!planned.skip_reason.empty())
      text += fmt::format("  {:<14} SKIPPED: {}\n", planned.row.id, planned.skip_reason);
    else if (!planned.notes.empty())
      text += fmt::format("  {:<14} {}\n", planned.row.id, fmt::join(planned.notes, "; "));
  return text;
}

}  // namespace harness
