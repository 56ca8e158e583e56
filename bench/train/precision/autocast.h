// Autocast for the calling thread, as torch.autocast: operators run in 16 or 32 bit, weights stay float32.
#pragma once
#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

namespace bench {

class Autocast {
 public:
  Autocast(c10::DeviceType device, c10::ScalarType type);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  c10::DeviceType device_;
  c10::ScalarType previous_type_;
  bool was_enabled_;
};

}  // namespace bench
