// Describes the places of all ranks in one line.
#pragma once
#include <string>
#include <vector>

#include "harness/contract/record_parts.h"

namespace harness {

// `rank_map` of a record, with ranks of the same host and cores combined: "ranks 0-3 on node0 (cpu:0 to
// cpu:3, cores 0-1), 4-7 on node1 (...)".
std::string rank_map_text(const std::vector<RankPlace>& rank_map);

}  // namespace harness
