#include "harness/data/node_copies.h"

#include <fmt/format.h>

#include <algorithm>

namespace harness {

NodeCopies::NodeCopies(const Workshop& workshop, const Request& request, const std::vector<Row>& rows,
                       const Data& data, const AxisValues& values)
    : request_(request) {
  for (const Row& row : rows) nodes_ = std::max(nodes_, row.nodes);
  for (const auto& [storage, location] : data.packed) {
    if (location.empty() || !trait(values, "storage", storage, "transient", false)) continue;
    const fs::path store = workshop.project / "data" / "packed";
    const Command pack = on_every_node(
        request, nodes_,
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
      run_to_end(on_every_node(request_, nodes_,
                               {"sh", "-c", fmt::format("test -e {0}.in-use || rm -rf {0}", location)}));
    } catch (const std::exception&) {
    }
}

}  // namespace harness
