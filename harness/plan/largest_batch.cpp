// Doubles the batch until it no longer fits, then bisects.
#include "harness/plan/largest_batch.h"

namespace harness {

LargestBatch largest_batch(const std::function<bool(int64_t images)>& fits) {
  LargestBatch found;
  for (int64_t images = 1; images <= kMostImagesTried; images *= 2) {
    if (!fits(images)) {
      found.too_many = images;
      break;
    }
    found.images = images;
  }
  while (found.too_many && *found.too_many - found.images > 1) {
    const int64_t middle = found.images + (*found.too_many - found.images) / 2;
    if (fits(middle))
      found.images = middle;
    else
      found.too_many = middle;
  }
  return found;
}

}  // namespace harness
