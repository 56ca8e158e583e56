// train: data_parallel's gradients and losses against one device on the whole batch, even and uneven shares.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include "tests/training_setup.h"

namespace bench::strategy_test {

class DataParallelOn : public testing::TestWithParam<std::tuple<int, int, std::string>> {};

// check_gradients compares with one device on the whole batch; here with shares of every kind.
TEST_P(DataParallelOn, GradientsEqualOneDevice) {
  const auto [devices, images, mode] = GetParam();
  at::set_num_threads(1);
  TinyRank many(tiny_row("data_parallel", devices, mode)), one(tiny_row("single", 1, mode));
  const at::Tensor batch = at::randn({images, 3, 32, 32}), labels = at::randint(10, {images}, at::kLong);
  PhaseClock unused(1, false);
  for (TinyRank* rank : {&many, &one}) {
    rank->strategy->use_batch_statistics(false);
    const at::Tensor logits = rank->strategy->forward(batch, unused);
    rank->strategy->backward(rank->precision->scale_loss(at::cross_entropy_loss(logits, labels)), unused);
  }
  double difference = 0, length = 0;
  for (size_t i = 0; i < one.model->parameters().size(); ++i) {
    const at::Tensor a = one.model->parameters()[i].tensor.grad().to(at::kDouble);
    const at::Tensor b = many.model->parameters()[i].tensor.grad().to(at::kDouble);
    difference += a.sub(b).square().sum().item<double>();
    length += a.square().sum().item<double>();
  }
  EXPECT_LT(std::sqrt(difference / length), mode == "o0" ? 1e-6 : 5e-2);
}

INSTANTIATE_TEST_SUITE_P(Shares, DataParallelOn,
                         testing::Values(std::tuple{2, 8, "o0"}, std::tuple{3, 8, "o0"},
                                         std::tuple{4, 9, "o0"}, std::tuple{3, 16, "o0"},
                                         std::tuple{2, 8, "o1"}, std::tuple{4, 9, "o2"},
                                         std::tuple{2, 8, "o3"}));

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

TEST(DataParallel, LossesFollowOneDeviceFromTheSameSeed) {
  harness::Row row = tiny_row("data_parallel", 2);
  TinyRank many(row);
  row.strategy = "single";
  row.devices = 1;
  TinyRank one(row);
  for (TinyRank* rank : {&many, &one}) rank->strategy->use_batch_statistics(false);
  const auto a = run_slice(many.parts()).loss, b = run_slice(one.parts()).loss;
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-3 * b[i]) << "batch " << i;
}

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
    EXPECT_EQ(a.images, b.images);
    EXPECT_NEAR(double(a.correct_top5), double(b.correct_top5), mode == std::string("o0") ? 0.0 : 4.0);
  }
}

TEST(DataParallel, AFailureInAReplicaReachesTheCaller) {
  TinyRank rank(tiny_row("data_parallel", 2));
  PhaseClock unused(1, false);
  EXPECT_THROW(rank.strategy->forward(at::randn({4, 5, 32, 32}), unused), std::exception);
  EXPECT_NO_THROW(rank.strategy->forward(at::randn({4, 3, 32, 32}), unused));
}

}  // namespace bench::strategy_test
