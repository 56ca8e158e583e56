// Computes the numbers of pairs after which results are examined, and the level of each examination.
#include "harness/stats/alpha_spending.h"

#include <cmath>

#include "harness/stats/effect.h"

namespace harness {

double level_after(size_t pairs) {
  double number = 1;
  for (size_t look = kFirstLook; look < pairs;
       look = static_cast<size_t>(std::ceil(kLookGrowth * static_cast<double>(look) - 1e-9)))
    ++number;
  return kLevel / (number * (number + 1));
}

bool is_look(size_t pairs) { return level_after(pairs) != level_after(pairs + 1); }

}  // namespace harness
