// train: The gradients and losses of strategies with several devices in one process against one device on the
// whole batch: data_parallel with even and uneven shares, split_model with micro-batches.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "tests/support/training_setup.h"

namespace bench::strategy_test {

// Gradients of the mean loss over the batch, with frozen batch norm.
void add_gradients(TinyRank& rank, const at::Tensor& batch, const at::Tensor& labels) {
  PhaseClock unused(1, false);
  rank.strategy->use_batch_statistics(false);
  const at::Tensor logits = rank.strategy->forward(batch, unused);
  rank.strategy->backward(rank.precision->scale_loss(at::cross_entropy_loss(logits, labels)), unused);
}

double relative_difference(const Model& model, const Model& reference) {
  double difference = 0, length = 0;
  for (size_t i = 0; i < reference.parameters().size(); ++i) {
    const at::Tensor a = reference.parameters()[i].tensor.grad().to(at::kDouble);
    const at::Tensor b = model.parameters()[i].tensor.grad().to(at::kDouble);
    difference += a.sub(b).square().sum().item<double>();
    length += a.square().sum().item<double>();
  }
  return std::sqrt(difference / length);
}

struct Several {
  const char* strategy;
  int devices, images;
  const char* mode;
  int parts = 1;  // pipeline_micro_batches
  const char* model = "resnet18";
};

class SeveralDevices : public testing::TestWithParam<Several> {};

// check_gradients compares with one device on the whole batch; here with shares of every kind.
TEST_P(SeveralDevices, GradientsEqualOneDevice) {
  const Several& here = GetParam();
  at::set_num_threads(1);
  harness::Row row = tiny_row(here.strategy, here.devices, here.mode),
               alone = tiny_row("single", 1, here.mode);
  row.pipeline_micro_batches = here.parts;
  row.model = alone.model = here.model;
  TinyRank many(row), one(alone);
  const size_t classifier = one.model->parameters().size() - 2;
  for (TinyRank* rank : {&many, &one})  // vit_tiny's starts at zero, and with it all other gradients
    rank->model->parameters()[classifier].tensor.detach().uniform_(-0.1, 0.1,
                                                                   at::detail::createCPUGenerator(3));
  const at::Tensor batch = at::randn({here.images, 3, 32, 32}),
                   labels = at::randint(10, {here.images}, at::kLong);
  add_gradients(many, batch, labels);
  add_gradients(one, batch, labels);
  EXPECT_LT(relative_difference(*many.model, *one.model), here.mode == std::string("o0") ? 1e-6 : 5e-2);
}

INSTANTIATE_TEST_SUITE_P(
    Shares, SeveralDevices,
    testing::Values(Several{"data_parallel", 2, 8, "o0"}, Several{"data_parallel", 3, 8, "o0"},
                    Several{"data_parallel", 4, 9, "o0"}, Several{"data_parallel", 3, 16, "o0"},
                    Several{"data_parallel", 2, 8, "o1"}, Several{"data_parallel", 4, 9, "o2"},
                    Several{"data_parallel", 2, 8, "o3"}),
    [](const auto& info) { return std::to_string(info.index); });

INSTANTIATE_TEST_SUITE_P(
    Stages, SeveralDevices,
    testing::Values(Several{"split_model", 2, 8, "o0"}, Several{"split_model", 2, 8, "o0", 2},
                    Several{"split_model", 2, 7, "o0", 4}, Several{"split_model", 4, 8, "o0", 2},
                    Several{"split_model", 6, 13, "o0", 3}, Several{"split_model", 2, 8, "o1", 2},
                    Several{"split_model", 2, 8, "o2", 4}, Several{"split_model", 2, 8, "o3", 2},
                    Several{"split_model", 2, 8, "o0", 2, "resnet50"},
                    Several{"split_model", 4, 8, "o0", 2, "vit_tiny"}),
    [](const auto& info) { return std::to_string(info.index); });

class TrainsAsOneDevice : public testing::TestWithParam<Several> {};

TEST_P(TrainsAsOneDevice, AndPassesItsGradientCheck) {
  harness::Row row = tiny_row(GetParam().strategy, GetParam().devices);
  row.pipeline_micro_batches = GetParam().parts;
  TinyRank many(row);
  EXPECT_TRUE(check_gradients(many.parts(), many.rank).ok);
  row.strategy = "single";
  row.devices = row.pipeline_micro_batches = 1;
  TinyRank one(row);
  for (TinyRank* rank : {&many, &one}) rank->strategy->use_batch_statistics(false);
  const auto a = run_slice(many.parts()).loss, b = run_slice(one.parts()).loss;
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-3 * b[i]) << "batch " << i;
}

INSTANTIATE_TEST_SUITE_P(Strategies, TrainsAsOneDevice,
                         testing::Values(Several{"data_parallel", 2, 0, "o0"},
                                         Several{"split_model", 4, 0, "o0", 2}),
                         [](const auto& info) { return std::string(info.param.strategy); });

TEST(SplitModel, EachStageWorksOnEveryMicroBatchForwardThenBackward) {
  harness::Row row = tiny_row("split_model", 2);
  row.pipeline_micro_batches = 4;
  TinyRank rank(row);
  add_gradients(rank, at::randn({16, 3, 32, 32}), at::zeros({16}, at::kLong));
  const auto devices = rank.strategy->device_intervals();
  ASSERT_EQ(devices.size(), 2u);
  for (const auto& of_stage : devices) {
    ASSERT_EQ(of_stage.size(), 8u);
    for (size_t i = 0; i < of_stage.size(); ++i) {
      EXPECT_EQ(of_stage[i].phase, i < 4 ? Phase::forward : Phase::backward);
      if (i == 0) continue;
      EXPECT_GE(of_stage[i].begin, of_stage[i - 1].end) << "one piece of work at a time";
    }
  }
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_GE(devices[1][i].begin, devices[0][i].end) << "the second stage follows the first";
    EXPECT_GE(devices[0][4 + i].begin, devices[1][4 + i].end) << "and the first one the second in backward";
  }
}

TEST(SplitModel, AFailureInEitherStageReachesTheCaller) {
  harness::Row row = tiny_row("split_model", 4);
  row.pipeline_micro_batches = 2;
  TinyRank rank(row);
  PhaseClock unused(1, false);
  EXPECT_THROW(rank.strategy->forward(at::randn({8, 5, 32, 32}), unused), std::exception) << "first stage";
  EXPECT_NO_THROW(rank.strategy->forward(at::randn({8, 3, 32, 32}), unused));
  at::Tensor classifier = rank.model->parameters().back().tensor;
  const at::Tensor kept = classifier.detach().clone();
  classifier.set_data(at::zeros({3}));
  EXPECT_THROW(rank.strategy->forward(at::randn({8, 3, 32, 32}), unused), std::exception) << "second stage";
  classifier.set_data(kept);
  EXPECT_NO_THROW(rank.strategy->forward(at::randn({8, 3, 32, 32}), unused));
}

class GradientCheckOf : public testing::TestWithParam<std::string> {};

// Also of a model whose classifier starts at zero, so that the first gradients of all other layers are zero.
TEST_P(GradientCheckOf, AStrategyThatIsWrongInTheFirstLayerFails) {
  harness::Row row = tiny_row("data_parallel", 2);
  row.model = GetParam();
  TinyRank rank(row);
  const std::string weights = weights_fingerprint(*rank.model);
  EXPECT_TRUE(check_gradients(rank.parts(), rank.rank).ok);
  // A replica that misses the broadcast of one weight: what a broken strategy looks like to the check.
  class Broken : public Strategy {
   public:
    explicit Broken(Strategy& inner, Model& model) : inner_(inner), model_(model) {}
    at::Tensor forward(const at::Tensor& images, PhaseClock& clock) override {
      return inner_.forward(images, clock);
    }
    void backward(const at::Tensor& loss, PhaseClock& clock) override {
      inner_.backward(loss, clock);
      at::Tensor(model_.parameters()[0].tensor.grad()).mul_(0.5);
    }
    void use_batch_statistics(bool on) override { inner_.use_batch_statistics(on); }

   private:
    Strategy& inner_;
    Model& model_;
  } broken(*rank.strategy, *rank.model);
  EXPECT_FALSE(check_gradients(rank.parts_with(*rank.loader, broken), rank.rank).ok);
  EXPECT_EQ(weights_fingerprint(*rank.model), weights) << "the check leaves the weights as they were";
}

INSTANTIATE_TEST_SUITE_P(Models, GradientCheckOf, testing::Values("resnet18", "vit_tiny"));

// Frozen batch norm: micro-batches' own statistics differ from the whole batch's.
TEST(Accumulation, MicroBatchesTrainAsTheWholeBatch) {
  for (const auto& [strategy, devices, mode] :
       {std::tuple("single", 1, "o0"), std::tuple("single", 1, "o2"), std::tuple("data_parallel", 2, "o0")}) {
    harness::Row row = tiny_row(strategy, devices, mode);
    TinyRank whole(row);
    row.accumulation = 4;
    TinyRank micro(row);
    for (TinyRank* rank : {&whole, &micro}) rank->strategy->use_batch_statistics(false);
    const SliceResult a = run_slice(whole.parts()), b = run_slice(micro.parts());
    ASSERT_EQ(a.loss.size(), b.loss.size());
    const double tolerance = mode == std::string("o0") ? 1e-3 : 5e-2;
    for (size_t i = 0; i < a.loss.size(); ++i)
      EXPECT_NEAR(a.loss[i], b.loss[i], tolerance * a.loss[i]) << strategy << ' ' << mode << ", batch " << i;
    EXPECT_EQ(a.correct.images, b.correct.images);
    EXPECT_NEAR(double(a.correct.top5), double(b.correct.top5), mode == std::string("o0") ? 0.0 : 4.0);
  }
}

TEST(DataParallel, AFailureInAReplicaReachesTheCaller) {
  TinyRank rank(tiny_row("data_parallel", 2));
  PhaseClock unused(1, false);
  EXPECT_THROW(rank.strategy->forward(at::randn({4, 5, 32, 32}), unused), std::exception);
  EXPECT_NO_THROW(rank.strategy->forward(at::randn({4, 3, 32, 32}), unused));
}

}  // namespace bench::strategy_test
