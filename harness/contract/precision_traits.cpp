// The table of number formats; a test compares it with what train_slice's formats do.
#include "harness/contract/precision_traits.h"

#include <algorithm>
#include <array>

namespace harness {

const PrecisionTraits& precision_traits(const std::string& name) {
  static constexpr std::array all = {PrecisionTraits{"o0", 4, 4, false}, PrecisionTraits{"o1", 4, 2, true},
                                     PrecisionTraits{"o2", 2, 2, true}, PrecisionTraits{"o3", 2, 2, false},
                                     PrecisionTraits{"bf16", 4, 2, false}};
  const auto found = std::ranges::find_if(all, [&](const auto& one) { return one.name == name; });
  return found == all.end() ? all[0] : *found;
}

}  // namespace harness
