// train: validation: the centre crop, a classifier with known accuracy, unchanged training afterwards, and
// learnable classes
#include "bench/train/validation.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>

#include "bench/dataset/scan.h"
#include "bench/dataset/standin.h"
#include "bench/loading/loader/loader.h"
#include "bench/train/model/resnet.h"
#include "tests/support/failure_of.h"
#include "tests/support/small_images.h"
#include "tests/support/training_setup.h"

namespace bench::validation_test {

TEST(CentreCrop, IsTorchvisionsResizeAndCenterCrop) {
  struct Case {
    ImageSize size;
    int side, width, height, left, top;
  };
  // Resize(256), CenterCrop(224): int(256 * 500 / 375) = 341, round(58.5) = 58 as Python rounds, 16.
  for (const Case& c : {Case{{500, 375}, 224, 341, 256, 58, 16}, Case{{375, 500}, 224, 256, 341, 16, 58},
                        Case{{300, 300}, 224, 256, 256, 16, 16}, Case{{500, 333}, 224, 384, 256, 80, 16},
                        Case{{128, 112}, 64, 83, 73, 10, 4}}) {
    const CentreCrop crop = centre_crop(c.size, c.side);
    EXPECT_EQ(crop.resized.width, c.width) << c.size.width;
    EXPECT_EQ(crop.resized.height, c.height) << c.size.width;
    EXPECT_EQ(crop.left, c.left) << c.size.width;
    EXPECT_EQ(crop.top, c.top) << c.size.width;
  }
}

TEST(CentreCrop, PixelsAreThoseOfTheResizedImage) {
  const Bytes jpeg = small_jpeg(75, 50, 3);
  Decoder decoder;
  const int side = 32;
  const CentreCrop crop = centre_crop({75, 50}, side);
  std::vector<uint8_t> whole(size_t(3 * crop.resized.width * crop.resized.height));
  const EncodedImage image{jpeg};
  decoder.resize(image, crop.resized, whole.data());
  std::vector<float> found(size_t(3 * side * side));
  centre_crop_to_float(decoder, image, side, found.data());
  for (int channel = 0; channel < 3; ++channel)
    for (const auto& [x, y] : {std::pair(0, 0), {31, 0}, {0, 31}, {31, 31}, {7, 20}}) {
      const double pixel = whole[size_t(3 * ((crop.top + y) * crop.resized.width + crop.left + x) + channel)];
      EXPECT_NEAR(found[size_t((channel * side + y) * side + x)],
                  (pixel / 255 - kMean[channel]) / kDeviation[channel], 1e-5);
    }
}

Dataset ten_images(const std::filesystem::path& root) {
  Dataset dataset;
  dataset.root = root;
  for (int i = 0; i < 10; ++i) {
    const Bytes bytes = small_jpeg(48, 40, uint32_t(i));
    const std::string path = "val/" + std::to_string(i) + ".JPEG";
    write_bytes(root / path, bytes);
    dataset.images.push_back({path, i, int64_t(bytes.size())});
  }
  return dataset;
}

// Always ranks class 0 first, then 1, 2, ... (only the classifier's bias).
void make_constant(Model& model) {
  at::NoGradGuard no_grad;
  for (const NamedTensor& parameter : model.parameters()) {
    at::Tensor tensor = parameter.tensor;
    if (parameter.name == "fc.weight") tensor.zero_();
    if (parameter.name == "fc.bias")
      for (int64_t c = 0; c < tensor.size(0); ++c) tensor[c].fill_(double(tensor.size(0) - c));
  }
}

TEST(Validation, CountsAClassifierWhoseAccuracyIsKnown) {
  TemporaryFolder folder;
  const Dataset dataset = ten_images(folder.path());  // one image of each of ten classes
  for (const char* name : {"o0", "o1", "o2", "o3", "bf16"}) {
    const auto precision = PrecisionRegistry::instance().find(name)({at::kCPU, {}});
    ResNet model({.width = 4, .classes = 10});
    make_constant(model);
    precision->convert(model);
    for (const int threads : {1, 3}) {
      int batches = 0;
      const harness::RankAnswers correct =
          validate(dataset, model, *precision, {4, 32, threads, at::kCPU, [&] { ++batches; }});
      EXPECT_EQ(correct.top1, 1) << name;
      EXPECT_EQ(correct.top5, 5) << name;
      EXPECT_EQ(correct.images, 10) << name;
      EXPECT_EQ(batches, 3) << "the last one holds two images";
    }
  }
}

TEST(Validation, LeavesTheTrainingAsItWas) {
  TemporaryFolder folder;
  const Dataset dataset = ten_images(folder.path());
  TinyRank validated(tiny_row()), alone(tiny_row());
  for (TinyRank* rank : {&validated, &alone}) {
    const auto train = [&] {
      PhaseClock clock(1, false);
      const at::Tensor images = at::ones({4, 3, 32, 32}).mul_(0.3), labels = at::zeros({4}, at::kLong);
      rank->strategy->backward(at::cross_entropy_loss(rank->strategy->forward(images, clock), labels), clock);
      rank->precision->step(*rank->model);
    };
    train();
    if (rank == &validated) validate(dataset, *rank->model, *rank->precision, {4, 32});
    train();  // with batch statistics again, and with gradients
  }
  for (size_t i = 0; i < alone.model->parameters().size(); ++i)
    EXPECT_TRUE(validated.model->parameters()[i].tensor.equal(alone.model->parameters()[i].tensor))
        << alone.model->parameters()[i].name;
  for (size_t i = 0; i < alone.model->buffers().size(); ++i)
    EXPECT_TRUE(validated.model->buffers()[i].tensor.equal(alone.model->buffers()[i].tensor))
        << alone.model->buffers()[i].name;
}

TEST(Validation, NamesAnImageThatCanNotBeUsed) {
  TemporaryFolder folder;
  const Dataset dataset = ten_images(folder.path());
  const auto precision = PrecisionRegistry::instance().find("o0")({at::kCPU, {}});
  const auto problem = [&](int64_t classes) {
    ResNet model({.width = 4, .classes = classes});
    return failure_of([&] { validate(dataset, model, *precision, {4, 32, 2}); });
  };
  EXPECT_NE(problem(9).find("val/9.JPEG has label 9, but the model has 9 classes"), std::string::npos)
      << problem(9);
  write_bytes(folder.path() / "val/3.JPEG", Bytes(dataset.images[3].bytes, 'x'));
  EXPECT_NE(problem(10).find("val/3.JPEG: "), std::string::npos) << problem(10);
}

// A small net, few classes, seconds: far above chance, which is 25 %.
TEST(Learnable, PatternsAreLearnedFromThePixels) {
  TemporaryFolder folder;
  StandinOptions options{folder.path() / "set", 1024, 40, 1, 0};
  options.validation = 200;
  make_standin(options);
  Dataset train = scan_dataset(options.out), val = scan_validation(train);
  for (Dataset* part : {&train, &val})  // ten hues of each pattern
    for (ImageEntry& image : part->images) image.label /= 10;

  harness::Row row = tiny_row();
  row.width = 8;
  row.classes = 4;
  row.batch = 32;
  row.warmup_batches = 0;
  row.timed_batches = 200;
  row.learning_rate = 0.025;
  TinyRank rank(row);
  StorageOptions storage_options;
  storage_options.dataset = train;
  const auto storage = StorageRegistry::instance().find("files")(storage_options);
  LoaderOptions load;
  load.batch_size = row.batch;
  load.image_px = row.image_px;
  load.classes = row.classes;
  load.threads = 1;
  load.sampler.records = int64_t(train.images.size());
  const auto loader = make_loader(*storage, load);
  run_slice(rank.parts_with(*loader, *rank.strategy));
  const harness::RankAnswers correct = validate(val, *rank.model, *rank.precision, {32, row.image_px});
  EXPECT_GT(double(correct.top1) / double(correct.images), 0.7);
  RecordProperty("top1_percent", int(100 * correct.top1 / correct.images));
}

}  // namespace bench::validation_test
