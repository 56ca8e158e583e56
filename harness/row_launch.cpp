#include "harness/row_launch.h"

#include <optional>

#include "harness/followers.h"
#include "harness/listener.h"
#include "harness/scratch.h"
#include "harness/two_nodes.h"

namespace harness {

Outcome launch_row(const RowSetting& setting, const Row& row, const fs::path& directory, Progress& progress,
                   const Limits& limits, const std::function<void()>& tick) {
  const std::string launcher = launcher_of(setting.request);
  std::optional<Listener> listener(std::in_place, setting.request.port, launcher != "local");
  const Scratch scratch;
  LaunchSetting launching;
  launching.directory = directory;
  launching.port = listener->port();
  launching.listen_fd = listener->fd();
  launching.scratch = scratch.path();
  std::optional<TwoNodes> nodes;
  if (emulates_nodes(row, launcher)) {
    nodes.emplace(row.link_rate_mbit);
    launching.enter[0] = nodes->enter(0);
    launching.enter[1] = nodes->enter(1);
    launching.cross = nodes->cross(1);
  }
  write_remote_shell(launching);
  const Launch launch = rank_commands(row, setting.values, setting.workshop, setting.request, launching);
  std::optional<FollowedRow> followed;
  if (launcher == "env") followed.emplace(setting.run, directory, launching.port);
  if (launcher == "mpirun" || launcher == "slurm")
    listener.reset();  // a rank that isn't our child will listen there
  return run_ranks(launch, progress, limits, directory, tick);
}

}  // namespace harness
