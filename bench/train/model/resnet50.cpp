// ResNet50: bottleneck blocks of 1 x 1, 3 x 3 and 1 x 1 convolutions. The 3 x 3 one halves the image, as in
// torchvision
// ("ResNet50 v1.5"); in the paper it is the first.
#include "bench/train/model/resnet.h"

namespace bench {

const ResNetShape& resnet50() {
  static const ResNetShape shape = {
      .block = {{.kernel = 1, .expansion = 1, .strided = false},
                {.kernel = 3, .expansion = 1, .strided = true},
                {.kernel = 1, .expansion = 4, .strided = false}},
      .blocks = {3, 4, 6, 3},
  };
  return shape;
}

static const bool registered_model_resnet50 = ModelRegistry::instance().add(
    {"model", "resnet50", "ResNet50: 25.6 million parameters at width 64", {.batch_norm = true}},
    [](const harness::Row& row) { return std::make_unique<ResNet>(row, resnet50()); });

}  // namespace bench
