// Validation: what the trained network makes of images that it has not seen, after the slice and outside its
// clock.
#pragma once
#include <cstdint>
#include <functional>

#include "bench/formats/index.h"
#include "bench/image/decode.h"
#include "bench/train/precision/precision.h"

namespace bench {

struct Correct {
  int64_t top1 = 0, top5 = 0, images = 0;
};

// Loss, and how many labels are the first or among the first five answers: three float64 on the device of the
// logits, which the host has not waited for.
at::Tensor metrics_of(const at::Tensor& loss, const at::Tensor& logits, const at::Tensor& labels);
// The same without a loss, for the host.
Correct count_correct(const at::Tensor& logits, const at::Tensor& labels);

// torchvision's recipe for a crop of 224, Resize(256) and CenterCrop(224), for a crop of any side: the size
// that an image is resized to, and the place of the crop in it.
struct CentreCrop {
  ImageSize resized;
  int left = 0, top = 0;
};
CentreCrop centre_crop(ImageSize size, int side);

// Writes 3 x side x side floats, normalised as in training. One Decoder per thread.
void centre_crop_to_float(Decoder& decoder, const EncodedImage& image, int side, float* chw);

struct ValidationOptions {
  int64_t batch_size = 32, image_px = 224;
  int threads = 1;                            // that decode
  at::Device device = at::kCPU;               // that the model is on
  std::function<void()> after_batch = [] {};  // a sign of life
};

// Classifies all images in the precision's types, with running statistics and without gradients; the model
// trains on afterwards as if nothing had happened. Throws BadDataset naming an image that can't be read or
// has a label that the model has no output for.
Correct validate(const Dataset& images, ResNet& model, const Precision& precision,
                 const ValidationOptions& options);

}  // namespace bench
