// Enables autocast on construction, and restores the earlier state and clears the weight cache at the end.
#include "bench/train/precision/autocast.h"

#include <ATen/autocast_mode.h>

namespace bench {

Autocast::Autocast(c10::DeviceType device, c10::ScalarType type)
    : device_(device),
      previous_type_(at::autocast::get_autocast_dtype(device)),
      was_enabled_(at::autocast::is_autocast_enabled(device)) {
  at::autocast::set_autocast_dtype(device, type);
  at::autocast::set_autocast_enabled(device, true);
  at::autocast::increment_nesting();
}

Autocast::~Autocast() {
  // The cache holds 16-bit copies of the weights, which are stale after the next optimizer step.
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_dtype(device_, previous_type_);
  at::autocast::set_autocast_enabled(device_, was_enabled_);
}

}  // namespace bench
