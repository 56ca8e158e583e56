// Compares the ranks' descriptions of their configuration on rank 0, and throws if one differs.
#include <fmt/format.h>

#include <stdexcept>

#include "bench/train/backend/group.h"

namespace bench {

void require_agreement(Group& group, const RankInfo& rank, const std::string& text) {
  const auto texts = group.gather(text);
  for (size_t other = 1; rank.rank == 0 && other < texts.size(); ++other)
    if (texts[other] != text)
      throw Disagreement(
          fmt::format("the ranks disagree about the configuration: rank 0 has {} and rank {} has {}; give "
                      "every node the same build, job file and data",
                      text, other, texts[other]));
  group.barrier();  // no rank trains before rank 0 has compared
}

}  // namespace bench
