// Energy that a row uses for an image, measured or from stated powers.
#pragma once
#include <optional>

#include "harness/contract/record.h"

namespace harness {

struct Energy {
  double joules_per_image = 0;
  bool measured = false;  // by NVML, GPUs only; otherwise from the price file's watts
};

// Energy of all GPUs over the timed batches / their images, if every rank of every run has it and no hardware
// is emulated; the median over the runs.
std::optional<double> measured_joules_per_image(const RecordList& runs);

// By measured_joules_per_image(), else stated: watts of the row's cores and devices / images
// per second; a processor's row needs watts_per_core, others watts_per_gpu. Emulated devices count at the
// speed of the devices that they stand for. `devices`: number of them that the stated power is for. nullopt:
// unknown.
std::optional<Energy> energy_of(const RecordList& runs, const Prices& prices, double images_per_second,
                                int64_t devices);

}  // namespace harness
