// Runs make_dataset once on each node, and removes the copies there when the run ends.
#include "harness/data/node_copies.h"

#include <fmt/format.h>

#include <utility>

namespace harness {

NodeCopies::NodeCopies(const Installation& installation, const Data& data, const AxisValues& values,
                       OnEveryNode on_every_node)
    : on_every_node_(std::move(on_every_node)) {
  const fs::path store = installation.data / "packed";
  for (const auto& [storage, location] : data.packed) {
    if (location.empty() || !trait(values, "storage", storage, &Traits::transient, false)) continue;
    base::Command pack = on_every_node_(
        {installation.make_dataset, "pack", "--index", data.index, "--to", storage, "--store", store});
    if (pack.arguments.empty()) return;
    pack.errors_to_output = true;  // OpenMPI adds a page to the one line that tells why
    if (const base::Finished finished = base::run_to_end(pack); finished.exit_code != 0)
      throw PreparationError(fmt::format(
          "storage {} could not be prepared on every node: {}; the command was: {}", storage,
          finished.output.substr(0, finished.output.find_first_of("\r\n")), base::shell_line(pack)));
    locations_.insert(location);
  }
}

NodeCopies::~NodeCopies() {
  // On this machine, TransientCopy removes the copy when no run uses it.
  for (const std::string& location : locations_) try {
      base::run_to_end(
          on_every_node_({"sh", "-c", fmt::format("test -e {0}.in-use || rm -rf {0}", location)}));
    } catch (const std::exception&) {
    }
}

}  // namespace harness
