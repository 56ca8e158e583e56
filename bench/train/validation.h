// Validation: accuracy of the trained network on unseen images, measured after the slice and not timed.
#pragma once
#include <cstdint>
#include <functional>

#include "bench/formats/index.h"
#include "bench/image/decode.h"
#include "bench/train/precision/precision.h"
#include "harness/contract/rank_report.h"

namespace bench {

// [loss, number of top-1 hits, number of top-5 hits]: float64, on the device of the logits; doesn't wait for
// the device. loss: scalar; logits: N x classes; labels: N, int64.
at::Tensor metrics_of(const at::Tensor& loss, const at::Tensor& logits, const at::Tensor& labels);
// The same without a loss; copies the counts to the host.
harness::RankAnswers count_correct(const at::Tensor& logits, const at::Tensor& labels);

// torchvision's Resize(256) and CenterCrop(224), scaled to any crop side: the size that an image is resized
// to, and the position of the crop in it (pixels).
struct CentreCrop {
  ImageSize resized;
  int left = 0, top = 0;
};
CentreCrop centre_crop(ImageSize size, int side);

// Writes 3 x side x side floats, normalised as in training. Throws BadImage. Use one Decoder per thread.
void centre_crop_to_float(Decoder& decoder, const EncodedImage& image, int side, float* chw);

struct ValidationOptions {
  int64_t batch_size = 32, image_px = 224;
  int threads = 1;                            // for decoding
  at::Device device = at::kCPU;               // device of the model
  std::function<void()> after_batch = [] {};  // e.g. a heartbeat
};

// Classifies all images with the given precision, running statistics and without gradients; doesn't change
// the model. Throws BadDataset that names an image that can't be read or whose label is outside the model's
// classes.
harness::RankAnswers validate(const Dataset& images, Model& model, const Precision& precision,
                              const ValidationOptions& options);

}  // namespace bench
