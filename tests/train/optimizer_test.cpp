// train: optimizers and the gradient scaler against their formulas, for every type, and the fused kernel's
// known fault.
#include "bench/train/optimizer/optimizer.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <limits>

#include "bench/train/optimizer/grad_scaler.h"
#include "tests/support/safetensors.h"

namespace bench::optimizer_test {

harness::Row row_of(double rate, double momentum, double decay, const std::string& optimizer = "sgd") {
  harness::Row row;
  row.optimizer = optimizer;
  row.learning_rate = rate;
  row.momentum = momentum;
  row.weight_decay = decay;
  return row;
}

class SgdOfType : public testing::TestWithParam<at::ScalarType> {};

TEST_P(SgdOfType, FollowsTheFormulaOnEveryElement) {
  const at::ScalarType type = GetParam();
  const double rate = 0.1, momentum = 0.9, decay = 0.01;
  at::Tensor p =
      at::randn({37}).to(type);  // not a multiple of 16: the fused kernel is right only for the remainder
  at::Tensor expected = p.to(at::kDouble), m = at::zeros({37}, at::kDouble);
  const auto sgd = make_optimizer(row_of(rate, momentum, decay));
  for (int step = 0; step < 3; ++step) {
    const at::Tensor g = at::randn({37}).to(type);
    m = m.mul(momentum).add(g.to(at::kDouble).add(expected, decay));
    expected = expected.sub(m, rate);
    sgd->step({p}, {g});
  }
  const double tolerance = type == at::kFloat ? 1e-5 : 5e-2;
  EXPECT_TRUE(at::allclose(p.to(at::kDouble), expected, tolerance, tolerance)) << p << expected;
}

INSTANTIATE_TEST_SUITE_P(Types, SgdOfType, testing::Values(at::kFloat, at::kBFloat16, at::kHalf));

class EveryOptimizer : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Names, EveryOptimizer, testing::Values("sgd", "adam"));

TEST_P(EveryOptimizer, AnOperationAtATimeIsTheSameStep) {
  at::Tensor fused = at::randn({100}), single = fused.clone();
  harness::Row row = row_of(0.1, 0.9, 0.01, GetParam());
  const auto together = make_optimizer(row);
  row.fused_sgd = false;
  const auto apart = make_optimizer(row);
  for (int step = 0; step < 4; ++step) {
    const at::Tensor g = at::randn({100}), found_inf = at::full({1}, step == 2 ? 1.0f : 0.0f);
    together->step({fused}, {g}, found_inf);
    apart->step({single}, {g}, found_inf);
  }
  EXPECT_TRUE(at::allclose(single, fused, 1e-6, 1e-7));
}

TEST(Sgd, FoundInfSkipsTheStepAndKeepsTheMomentum) {
  at::Tensor p = at::ones({5});
  const auto sgd = make_optimizer(row_of(0.1, 0.9, 0));
  const at::Tensor g = at::ones({5}), bad = at::ones({1}), good = at::zeros({1});
  sgd->step({p}, {g}, bad);
  EXPECT_TRUE(p.equal(at::ones({5})));
  sgd->step({p}, {g}, good);
  EXPECT_TRUE(at::allclose(p, at::full({5}, 0.9)));
  sgd->step({p}, {g}, bad);
  sgd->step({p}, {g}, good);  // momentum 0.9 + 1
  EXPECT_TRUE(at::allclose(p, at::full({5}, 0.71)));
}

// tests/golden/make_network_fixtures.py.
TEST(Adam, FollowsPyTorchForTwentySteps) {
  const auto golden = read_safetensors(SOURCE_DIR "/tests/golden/adam_fixture.safetensors");
  for (const bool fused : {true, false}) {
    harness::Row row = row_of(0.01, 0, 0.1, "adam");
    row.fused_sgd = fused;
    const auto adam = make_optimizer(row);
    std::vector<at::Tensor> weights{golden.at("before.0").clone(), golden.at("before.1").clone()};
    for (int step = 0; step < 20; ++step) {
      const std::string number = std::to_string(step);
      adam->step(weights, {golden.at("gradient" + number + ".0"), golden.at("gradient" + number + ".1")});
      for (const char* weight : {"0", "1"})
        EXPECT_TRUE(at::allclose(weights[size_t(weight[0] - '0')], golden.at("after" + number + "." + weight),
                                 1e-5, 1e-6))
            << "step " << step << ", weight " << weight << ", fused " << fused;
    }
  }
}

TEST(FusedSgd, StillUpdatesOnlyTheTailOf16BitTensorsOnACpu) {
  at::Tensor p = at::ones({37}, at::kBFloat16);
  at::NoGradGuard no_grad;
  std::vector<at::Tensor> params{p}, grads{at::ones({37}, at::kBFloat16)},
      momenta{at::zeros({37}, at::kBFloat16)};
  at::_fused_sgd_(params, grads, momenta, 0, 0.9, 0.5, 0, false, false, false);
  const int64_t updated = p.lt(1).sum().item<int64_t>();
  if (updated == 37)
    GTEST_SKIP() << "this LibTorch has fixed it: Sgd can use the fused kernel for 16 bit too";
  EXPECT_EQ(updated, 37 % 16);
}

TEST(GradScaler, UnscalesMixedTypesAndBacksOffOnInfinity) {
  GradScaler scaler(at::kCPU);
  const auto scaled = [&](double loss) { return scaler.scale(at::full({}, loss)).item<float>(); };
  EXPECT_EQ(scaled(3), 3 * 65536);
  at::Tensor a = at::full({3}, 2 * 65536.0), b = at::full({3}, 65536.0).to(at::kBFloat16);
  scaler.unscale({a, b});
  EXPECT_EQ(scaler.found_inf().item<float>(), 0);
  EXPECT_TRUE(at::allclose(a, at::full({3}, 2.0)));
  EXPECT_TRUE(at::allclose(b.to(at::kFloat), at::ones({3})));
  scaler.update();
  EXPECT_EQ(scaled(1), 65536);
  a.fill_(std::numeric_limits<float>::infinity());
  scaler.unscale({a, b});
  EXPECT_EQ(scaler.found_inf().item<float>(), 1);
  scaler.update();
  EXPECT_EQ(scaled(1), 32768);
}

}  // namespace bench::optimizer_test
