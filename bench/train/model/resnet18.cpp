// ResNet18, the article's network: blocks of two 3 x 3 convolutions.
#include "bench/train/model/resnet.h"

namespace bench {

const ResNetShape& resnet18() {
  static const ResNetShape shape = {
      .block = {{.kernel = 3, .expansion = 1, .strided = true},
                {.kernel = 3, .expansion = 1, .strided = false}},
      .blocks = {2, 2, 2, 2},
  };
  return shape;
}

static const bool registered_model_resnet18 = ModelRegistry::instance().add(
    {"model", "resnet18", "ResNet18: 11.7 million parameters at width 64", {.batch_norm = true}},
    [](const harness::Row& row) { return std::make_unique<ResNet>(row, resnet18()); });

}  // namespace bench
