#include "harness/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/machine.h"

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
  if (row.sync_bn) return "synchronised batch norm is not built yet";
  return "";
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
                                  const PrecisionTimes& times, bool slow) {
  const int64_t cores = int64_t(available_cpus().size());
  std::vector<PlannedRow> plan;
  for (const Row& row : rows) {
    PlannedRow planned{row, why_missing(row, values), {}};
    if (planned.skip_reason.empty() && !slow) planned.skip_reason = why_too_slow(row, times);
    if (row.cpus > cores) {
      planned.notes.push_back(fmt::format("cpus: {} clipped to {}", row.cpus, cores));
      planned.row.cpus = cores;
    }
    plan.push_back(std::move(planned));
  }
  return plan;
}

void check_data(std::vector<PlannedRow>& plan, const Data& data) {
  for (PlannedRow& planned : plan) {
    const Row& row = planned.row;
    if (row.cache == "cold" && images_read(row) > data.images())
      planned.skip_reason =
          fmt::format("a cold row reads each image at most once: it needs {} images and the data has {}",
                      images_read(row), data.images());
    if (const auto note = data.notes.find(row.storage); note != data.notes.end())
      planned.notes.push_back(fmt::format("{}: {}", row.storage, note->second));
  }
}

int64_t world_size(const Row& row, const AxisValues& values) {
  return trait(values, "strategy", row.strategy, "process_per_device", false) ? row.nodes * row.devices
                                                                              : row.nodes;
}

// One policy for all rows, because glibc's default costs up to a third of a CPU step: freed memory is kept
// instead of being given back to the kernel and faulted in again.
static std::map<std::string, std::string> allocator_settings(const std::string& policy) {
  if (policy != "retain") return {};
  return {{"MALLOC_ARENA_MAX", "1"}, {"MALLOC_TRIM_THRESHOLD_", "4294967296"}, {"MALLOC_MMAP_MAX_", "0"}};
}

std::vector<Command> rank_commands(const Row& row, const AxisValues& values, const Workshop& workshop,
                                   const fs::path& directory, int port, int listen_fd) {
  const int64_t ranks = world_size(row, values), per_node = ranks / row.nodes;
  std::vector<int> cpus = available_cpus();
  cpus.resize(size_t(std::min<int64_t>(row.cpus, int64_t(cpus.size()))));
  std::vector<Command> commands;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    Command command;
    command.arguments = {workshop.train_slice, "--job", directory / "job.json"};
    command.environment = allocator_settings(row.malloc);
    command.environment["OMP_NUM_THREADS"] = std::to_string(row.intra_op_threads);
    command.environment["RANK"] = std::to_string(rank);
    command.environment["WORLD_SIZE"] = std::to_string(ranks);
    command.environment["LOCAL_RANK"] = std::to_string(rank % per_node);
    command.environment["LOCAL_WORLD_SIZE"] = std::to_string(per_node);
    command.environment["GROUP_RANK"] = std::to_string(rank / per_node);
    if (ranks > 1) {
      command.environment["MASTER_ADDR"] = "127.0.0.1";
      command.environment["MASTER_PORT"] = std::to_string(port);
      if (rank == 0 && listen_fd >= 0) {
        command.environment["MASTER_LISTEN_FD"] = std::to_string(listen_fd);
        command.passed_fd = listen_fd;
      }
    }
    command.cpus = cpus;
    command.output = directory / fmt::format("rank-{}.stdout", rank);
    command.errors = directory / fmt::format("rank-{}.stderr", rank);
    commands.push_back(std::move(command));
  }
  return commands;
}

std::string describe_plan(const std::vector<PlannedRow>& plan) {
  const auto skipped =
      std::count_if(plan.begin(), plan.end(), [](const auto& p) { return !p.skip_reason.empty(); });
  std::string text = fmt::format("plan: {} of {} rows run\n", plan.size() - size_t(skipped), plan.size());
  for (const PlannedRow& planned : plan)
    if (!planned.skip_reason.empty())
      text += fmt::format("  {:<14} SKIPPED: {}\n", planned.row.id, planned.skip_reason);
    else if (!planned.notes.empty())
      text += fmt::format("  {:<14} {}\n", planned.row.id, fmt::join(planned.notes, "; "));
  return text;
}

}  // namespace harness
