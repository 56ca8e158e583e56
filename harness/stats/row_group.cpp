// Returns the first axis with a field that differs; without a base, decides by the row's own fields.
#include "harness/stats/row_group.h"

#include <utility>
#include <vector>

#include "harness/contract/precision_traits.h"

namespace harness {

std::string group_of(const Row& row, const Row* base) {
  static const std::vector<std::pair<std::string, std::vector<std::string>>> axes = {
      {"nodes", {"nodes", "link"}},
      {"devices", {"devices", "batch"}},
      {"strategy", {"strategy", "backend", "sync_bn"}},
      {"threads", {"cpus", "loader_threads"}},
      {"precision", {"precision"}},
      {"storage",
       {"storage", "order", "cache", "read_rate", "read_latency_ms", "store_rate_mbit", "store_latency_ms",
        "readahead", "interleave", "shuffle_window"}},
      {"loading", {"batch_format", "ring_depth", "handing_over", "pin_loader_threads", "pin_thread"}}};
  if (base)
    for (const auto& [axis, fields] : axes)
      for (const std::string& field : fields)
        if (field_text(row, field) != field_text(*base, field)) return axis;
  if (row.nodes > 1) return "nodes";
  const std::string& strategy = row.strategy;
  if (strategy != "single" && strategy != "data_parallel") return "strategy";
  // The article's second series, from its row [0] on, varies devices; its first varies storage.
  if (strategy == "data_parallel" || row.window == "100-399") return "devices";
  return precision_traits(row.precision).sixteen_bit() ? "precision" : "storage";
}

}  // namespace harness
