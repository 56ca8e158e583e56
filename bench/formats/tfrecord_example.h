// One image as TensorFlow stores it: a tf.train.Example with the features image/encoded (bytes),
// image/filename (bytes) and image/class/label (int64), the feature names of the ImageNet TFRecords; here
// labels start at 0. Schema: tensorflow/core/example/example.proto and feature.proto.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "bench/image/encoded_image.h"

namespace bench {

std::string serialized_example(std::string_view encoded, std::string_view filename, int64_t label);

// The result refers to the bytes of `example`. Empty if that is not an Example or has no image/encoded or
// image/class/label.
std::optional<EncodedImage> image_of_example(std::span<const uint8_t> example);

}  // namespace bench
