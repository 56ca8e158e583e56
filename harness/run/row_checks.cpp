// Returns why a row is skipped: a missing program, a wrong allocation, or too few images.
#include "harness/run/row_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "harness/base/listener.h"
#include "harness/config/row_traits.h"
#include "harness/emulate/remote_storage.h"
#include "harness/emulate/two_nodes.h"
#include "harness/launch/rank_commands.h"
#include "harness/launch/rank_program.h"

namespace harness {

std::string why_not_started(const Row& row, const AxisValues& values, const Request& request) {
  const std::string launcher = launcher_of(request);
  const bool mpi = started_by_mpi(row, values);
  if (launcher == "env" && mpi)
    return "ranks with MPI need the launcher mpirun or slurm, not env; --set backend=gloo runs the row "
           "without MPI";
  if (launcher == "env") {
    const char* size = std::getenv("WORLD_SIZE");
    if (const int64_t ranks = world_size(row, values); !size || std::to_string(ranks) != size)
      return fmt::format("the row has {} ranks, but WORLD_SIZE is {}", ranks, size ? size : "not set");
  }
  if (const auto named = std::ranges::count(request.hosts, ',') + 1;
      launcher == "mpirun" && !request.hosts.empty() && named < row.nodes)
    return fmt::format("the row has {} nodes, but --hosts names {}", row.nodes, named);
  if (const std::string why = why_no_allocator(row); !why.empty()) return why;
  if (const std::string why = why_no_engine(row); !why.empty()) return why;
  if (const std::string why = why_no_loader(row); !why.empty()) return why;
  if (launcher == "local" && mpi && !base::program_exists("mpirun"))
    return "program mpirun was not found: install package openmpi-bin";
  if (launcher == "local" && row.nodes == 1 && world_size(row, values) > 1 && !base::loopback_is_up())
    return "ranks on this machine meet over its loopback interface, which is down: ip link set lo up";
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
    return fmt::format("{} nodes: one machine can emulate at most two; name real ones with --hosts",
                       row.nodes);
  return why_no_two_nodes();
}

constexpr const char* kNoValidation =
    "--data has no folder val, whose images measure the accuracy; add val/<class>/<image>.JPEG with the "
    "class "
    "folders of train, or leave --data out for stand-in classes";

// The network gets as many outputs as the data has classes: ImageNet's thousand outputs would learn more
// slowly.
static void fit_to_classes(PlannedRow& planned, const Data& data) {
  if (data.validation.empty())
    planned.skip_reason = kNoValidation;
  else
    planned.row.classes = data.description.classes.value_or(planned.row.classes);
}

void check_validation(std::vector<PlannedRow>& plan, const fs::path& data) {
  const auto has_folders = [](const fs::path& folder) {
    return fs::is_directory(folder) &&
           std::any_of(fs::directory_iterator(folder), {}, [](const auto& it) { return it.is_directory(); });
  };
  if (!has_folders(data / "train")) return;  // make_dataset knows other forms
  const fs::path val = data / "val";
  const bool there = fs::is_directory(val);
  for (PlannedRow& planned : plan)
    if (!data.empty() && planned.row.validation && planned.skip_reason.empty()) {
      if (!there) planned.skip_reason = kNoValidation;
      if (there && !has_folders(val))
        throw PreparationError(
            fmt::format("{}: it has no class folders; expected DIR/val/<class>/<image>.JPEG with the class "
                        "folders of DIR/train",
                        val.string()));
    }
}

void check_data(std::vector<PlannedRow>& plan, const DataSets& sets) {
  for (PlannedRow& planned : plan) {
    const Row& row = planned.row;
    const Data& data = sets.of(row);
    if (row.validation && planned.skip_reason.empty()) fit_to_classes(planned, data);
    if (row.cache == "cold" && images_read(row) > data.images())
      planned.skip_reason = fmt::format(
          "a cold row reads each image at most once: it needs {} images, but the data has {}; add images, "
          "or start it with a warm cache: --set cache=as_is",
          images_read(row), data.images());
    if (planned.skip_reason.empty() && row.storage != "synthetic" && images_read(row) > data.images())
      planned.notes.push_back(fmt::format("reads each of {} images {:.1f} times", data.images(),
                                          double(images_read(row)) / double(data.images())));
    if (const auto note = data.notes.find(row.storage); note != data.notes.end())
      planned.notes.push_back(fmt::format("{}: {}", row.storage, note->second));
  }
}

}  // namespace harness
