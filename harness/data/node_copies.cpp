#include "harness/data/node_copies.h"

#include <fmt/format.h>

#include <utility>

namespace harness {

NodeCopies::NodeCopies(const Workshop& workshop, const Data& data, const AxisValues& values,
                       OnEveryNode on_every_node)
    : on_every_node_(std::move(on_every_node)) {
  const fs::path store = workshop.project / "data" / "packed";
  for (const auto& [storage, location] : data.packed) {
    if (location.empty() || !trait(values, "storage", storage, "transient", false)) continue;
    const Command pack = on_every_node_(
        {workshop.make_dataset, "pack", "--index", data.index, "--to", storage, "--store", store});
    if (pack.arguments.empty()) return;
    if (run_to_end(pack).exit_code != 0)
      throw PreparationError(fmt::format(
          "storage {} could not be prepared on every node; the command was: {}", storage, shell_line(pack)));
    locations_.insert(location);
  }
}

NodeCopies::~NodeCopies() {
  // On this machine the run that made the copy removes it, when no other uses it.
  for (const std::string& location : locations_) try {
      run_to_end(on_every_node_({"sh", "-c", fmt::format("test -e {0}.in-use || rm -rf {0}", location)}));
    } catch (const std::exception&) {
    }
}

}  // namespace harness
