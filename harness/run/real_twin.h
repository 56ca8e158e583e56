// The real row that stands for a row on an emulated device: the same training, on this machine's processor
// and with a small network.
#pragma once
#include <string>

#include "harness/config/scales.h"

namespace harness {

enum class RealWork {
  steps,  // on one made-up batch, again and again
  slice   // the row's timed batches, of images
};

// The learning rate of RealWork::steps, with the usual momentum, in all rows: so SGD and Adam learn one batch
// with a network of scale smoke within kRealSteps batches.
constexpr double kRealLearningRate = 0.02;
constexpr int64_t kRealSteps = 16;

// scale: of `row`; smallest: the one to train at. keeps_storage: whether a slice reads from the row's
// storage, not raw pixels. The backend of ranks is left as it is: the caller chooses one that starts here.
Row real_twin(const Row& row, RealWork work, const Scale& scale, const Scale& smallest, bool keeps_storage,
              const AxisValues& values);

// Text that is equal for twins that do the same work.
std::string work_of(const Row& twin);

}  // namespace harness
