#include "harness/stats/looks.h"

#include <cmath>

#include "harness/stats/effect.h"

namespace harness {

static size_t next_look(size_t pairs) {
  return static_cast<size_t>(std::ceil(kLookGrowth * static_cast<double>(pairs) - 1e-9));
}

bool is_look(size_t pairs) {
  size_t look = kFirstLook;
  while (look < pairs) look = next_look(look);
  return look == pairs;
}

double level_after(size_t pairs) {
  double number = 1;
  for (size_t look = kFirstLook; look < pairs; look = next_look(look)) ++number;
  return kLevel / (number * (number + 1));
}

}  // namespace harness
