// Crops the centre of each image as torchvision does, and counts correct top-1 and top-5 answers.
#include "bench/train/validation.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/topk.h>
#include <ATen/ops/zeros.h>
#include <c10/util/ScopeExit.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <future>
#include <memory>
#include <vector>

#include "bench/loading/loader/loader.h"
#include "bench/loading/storage/files.h"

namespace bench {

at::Tensor metrics_of(const at::Tensor& loss, const at::Tensor& logits, const at::Tensor& labels) {
  at::NoGradGuard no_grad;
  const at::Tensor best = std::get<1>(at::topk(logits, std::min<int64_t>(5, logits.size(1)), 1));
  const at::Tensor hits = best.eq(labels.unsqueeze(1));
  return at::stack(
      {loss.detach().to(at::kDouble), hits.select(1, 0).sum().to(at::kDouble), hits.sum().to(at::kDouble)});
}

harness::RankAnswers count_correct(const at::Tensor& logits, const at::Tensor& labels) {
  const at::Tensor metrics = metrics_of(at::zeros({}, logits.options()), logits, labels).cpu();
  const double* values = metrics.const_data_ptr<double>();
  return {int64_t(values[1]), int64_t(values[2]), labels.size(0)};
}

CentreCrop centre_crop(ImageSize size, int side) {
  const int shorter = static_cast<int>(std::lround(side * 256.0 / 224));
  CentreCrop crop;
  crop.resized = {shorter, shorter};
  if (size.width < size.height)
    crop.resized.height = static_cast<int>(int64_t{shorter} * size.height / size.width);
  else
    crop.resized.width = static_cast<int>(int64_t{shorter} * size.width / size.height);
  // nearbyint rounds half to even, as Python's round.
  const auto half = [&](int whole) { return static_cast<int>(std::nearbyint((whole - side) / 2.0)); };
  crop.left = half(crop.resized.width);
  crop.top = half(crop.resized.height);
  return crop;
}

void centre_crop_to_float(Decoder& decoder, const EncodedImage& image, int side, float* chw) {
  const CentreCrop crop = centre_crop(decoder.size(image), side);
  std::vector<uint8_t> pixels(size_t{3} * crop.resized.width * crop.resized.height);
  decoder.resize(image, crop.resized, pixels.data());
  for (int channel = 0; channel < 3; ++channel)
    for (int y = 0; y < side; ++y) {
      const uint8_t* row =
          pixels.data() + 3 * (size_t(crop.top + y) * crop.resized.width + crop.left) + channel;
      for (int x = 0; x < side; ++x)
        *chw++ = row[3 * x] * normalise_scale(channel) + normalise_shift(channel);
    }
}

namespace {

// Fills batches with images of a data set. Starts its threads for each batch, which is cheap compared with
// decoding.
class Images {
 public:
  Images(const Dataset& dataset, int64_t classes, int threads)
      : dataset_(dataset), classes_(classes), workers_(size_t(std::max(1, threads))) {
    for (Worker& worker : workers_)
      worker.reader = std::make_unique<FileReader>(dataset_.root, dataset_.images, true,
                                                   "name the folder that holds train/ and val/ with --data");
  }

  void fill(int64_t first, at::Tensor& images, at::Tensor& labels) {
    std::atomic<int64_t> next{0};
    const auto work = [&](Worker& worker) {
      for (int64_t i = next++; i < images.size(0); i = next++)
        labels.mutable_data_ptr<int64_t>()[i] = load(
            worker, first + i, images.mutable_data_ptr<float>() + i * images.stride(0), int(images.size(3)));
    };
    std::vector<std::future<void>> others;  // whose ends wait for the threads
    for (size_t i = 1; i < workers_.size(); ++i)
      others.push_back(std::async(std::launch::async, [&, i] { work(workers_[i]); }));
    work(workers_[0]);
    for (std::future<void>& other : others) other.get();
  }

 private:
  struct Worker {
    std::unique_ptr<FileReader> reader;
    Decoder decoder;
  };

  int64_t load(Worker& worker, int64_t number, float* chw, int side) const {
    const std::string& name = dataset_.images[size_t(number)].path;
    const int64_t label = dataset_.images[size_t(number)].label;
    if (label >= classes_)
      throw BadDataset(
          fmt::format("{} has label {}, but the model has {} classes: set `classes` to the number of the "
                      "data set's classes",
                      name, label, classes_));
    try {
      centre_crop_to_float(worker.decoder, worker.reader->read(number), side, chw);
    } catch (const std::runtime_error& error) {
      throw BadDataset(fmt::format("{}: {}; every image of val must be readable: remove or replace it", name,
                                   error.what()));
    }
    return label;
  }

  const Dataset& dataset_;
  const int64_t classes_;
  std::vector<Worker> workers_;
};

}  // namespace

harness::RankAnswers validate(const Dataset& dataset, Model& model, const Precision& precision,
                              const ValidationOptions& options) {
  at::NoGradGuard no_grad;
  model.use_batch_statistics(false);
  const auto training_again = c10::make_scope_exit([&] { model.use_batch_statistics(true); });
  const int64_t count = int64_t(dataset.images.size()), px = options.image_px;
  Images source(dataset, model.classes(), options.threads);
  harness::RankAnswers correct;
  for (int64_t first = 0; first < count; first += options.batch_size) {
    const int64_t size = std::min(options.batch_size, count - first);
    at::Tensor images = at::empty({size, 3, px, px}), labels = at::empty({size}, at::kLong);
    source.fill(first, images, labels);
    const at::Tensor logits = precision.forward(model, images.to(options.device));
    const harness::RankAnswers batch = count_correct(logits, labels.to(logits.device()));
    correct.top1 += batch.top1;
    correct.top5 += batch.top5;
    correct.images += batch.images;
    options.after_batch();
  }
  return correct;
}

}  // namespace bench
