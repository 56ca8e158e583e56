// Creates the resources in the order in which they depend on each other, and removes them at the row's end.
#include "harness/run/row_launch.h"

#include <fmt/format.h>

#include <optional>

#include "harness/base/listener.h"
#include "harness/base/scratch.h"
#include "harness/contract/job.h"
#include "harness/emulate/remote_storage.h"
#include "harness/emulate/two_nodes.h"
#include "harness/launch/followers.h"

namespace harness {

// Adds the address of the object store to the job, known only after its start.
static void add_to_job(const fs::path& file, const std::string& storage, const RemoteStorage& remote) {
  Job job = read_job(file);
  job.packed[storage] = remote.location();
  job.server_counter = remote.counter();
  write_job(file, job);
}

Outcome launch_row(const RowSetting& setting, const Row& row, const fs::path& directory, Progress& progress,
                   const TimeLimits& limits, const std::function<void()>& tick) {
  const std::string launcher = launcher_of(setting.request);
  std::optional<base::Listener> listener(std::in_place, setting.request.port, launcher != "local");
  const base::Scratch scratch;
  LaunchSetting launching;
  launching.directory = directory;
  launching.port = listener->port();
  launching.listen_fd = listener->fd();
  launching.scratch = scratch.path();
  std::optional<TwoNodes> nodes;
  if (emulates_nodes(row, launcher)) {
    nodes.emplace(link_rate_here_mbit(row, batch_divisor_of(row, setting.scale)));
    launching.enter[0] = nodes->enter(0);
    launching.enter[1] = nodes->enter(1);
    launching.cross = nodes->cross(1);
  }
  std::optional<RemoteStorage> remote;
  if (const std::string service = service_of(setting.values, row.storage); !service.empty()) {
    remote.emplace(row, service,
                   RemoteStorage::Folders{setting.data.of(row).index, scratch.path(),
                                          setting.installation.data / "packed", directory});
    add_to_job(directory / "job.json", row.storage, *remote);
    if (remote->nodes()) {
      launching.enter[0] = remote->nodes()->enter(0);
      launching.listen_fd = -1;  // rank 0 must listen in its node's network namespace
    }
  }
  write_remote_shell(launching);
  Launch launch = rank_commands(row, setting.values, setting.installation, setting.request, launching);
  launch.wrap = setting.request.wrap;
  std::optional<FollowedRow> followed;
  if (launcher == "env") followed.emplace(setting.run, directory, launching.port);
  if (launcher == "mpirun" || launcher == "slurm")
    listener.reset();  // rank 0 is not a child of this process and opens the port itself
  Outcome outcome = run_ranks(launch, progress, limits, directory, tick);
  if (remote && !outcome.interrupted) {
    const std::string ended = outcome.status == "OK" ? "" : remote->why_ended();
    if (!ended.empty()) {
      outcome.status = "CRASHED";
      outcome.reason = ended + "; then: " + outcome.reason;
    }
    outcome.object_store = remote->describe();
  }
  return outcome;
}

// 0, 1, 2, 5 -> "0-2,5"
static std::string ranges(const std::vector<int64_t>& numbers) {
  std::string text;
  for (size_t first = 0, last; first < numbers.size(); first = last + 1) {
    for (last = first; last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1;) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(numbers[first]);
    if (last > first) text += "-" + std::to_string(numbers[last]);
  }
  return text;
}

std::string rank_map_text(const std::vector<RankPlace>& rank_map) {
  std::string text;
  for (size_t first = 0, last; first < rank_map.size(); first = last + 1) {
    const RankPlace& place = rank_map[first];
    for (last = first; last + 1 < rank_map.size();) {
      const RankPlace& next = rank_map[last + 1];
      if (next.host != place.host || next.cpus != place.cpus) break;
      ++last;
    }
    text += fmt::format("{}{} on {} ({}{}, cores {})",
                        text.empty() ? (rank_map.size() > 1 ? "ranks " : "rank ") : ", ",
                        last > first ? fmt::format("{}-{}", first, last) : std::to_string(first), place.host,
                        place.device, last > first ? " to " + rank_map[last].device : "", ranges(place.cpus));
  }
  return text;
}

}  // namespace harness
