// train: the rule of the check `trained`: on one batch every precision, optimizer and kind of replica lowers
// the loss in the steps of a real twin, and training that is broken on purpose does not.
#include <gtest/gtest.h>

#include "harness/config/scales.h"
#include "harness/experiment/policy/policy.h"
#include "harness/run/real_training.h"
#include "harness/stats/statistics.h"
#include "tests/support/training_setup.h"

namespace bench::one_batch_test {

using harness::Row;

Row twin_of(const Row& row) {
  static const auto scales = harness::load_scales(std::filesystem::path(SOURCE_DIR) / "configs/scales.yaml");
  const harness::Scale& smallest = harness::find_scale(scales, "smoke");
  return harness::real_twin(row, harness::RealWork::steps, smallest, smallest, false, {});
}

std::vector<double> losses(TinyRank& rank, Strategy& strategy) {
  return run_slice(rank.parts_with(*rank.loader, strategy)).loss;
}
bool learns(const std::vector<double>& loss) {
  EXPECT_EQ(loss.size(), size_t(harness::kRealSteps));
  return harness::fell(harness::loss_fall(loss, 1), harness::kFallOnOneBatch);
}
bool learns(const Row& row) {
  TinyRank rank(twin_of(row));
  return learns(losses(rank, *rank.strategy));
}

std::vector<std::string> names_of(const std::string& axis) {
  std::vector<std::string> names;
  for (const Value& value : registered_values())
    if (value.axis == axis) names.push_back(value.name);
  return names;
}

TEST(OneBatch, IsLearntInEveryPrecisionWithEveryOptimizer) {
  for (const std::string& precision : names_of("precision"))
    for (const std::string& optimizer : names_of("optimizer"))
      for (const double rate : {0.1, 1e-5}) {  // the row's own, which the twin doesn't take
        Row row;
        row.precision = precision;
        row.optimizer = optimizer;
        row.learning_rate = rate;
        EXPECT_TRUE(learns(row)) << precision << " " << optimizer;
      }
}

TEST(OneBatch, IsLearntByReplicasMicroBatchesAndOtherNetworks) {
  for (const auto& [strategy, devices] :
       {std::pair("data_parallel", 2), {"data_parallel", 3}, {"split_model", 2}}) {
    Row row;
    row.strategy = strategy;
    row.devices = devices;
    EXPECT_TRUE(learns(row)) << strategy << " " << devices;
  }
  for (const char* model : {"resnet50", "vit_tiny"}) {
    Row row;
    row.model = model;
    EXPECT_TRUE(learns(row)) << model;
  }
  Row row;
  row.accumulation = 16;
  row.learning_rate_warmup = 100;
  row.momentum = 0;
  EXPECT_TRUE(learns(row)) << "16 micro-batches of two images, without momentum";
}

// Precision whose step is broken.
class Broken : public Precision {
 public:
  Broken(Precision& inner, double factor)
      : Precision(PrecisionOptions(), at::kFloat, {}), inner_(inner), factor_(factor) {}
  void step(Model& model) override {
    for (const at::Tensor& gradient : model.gradient_tensors()) gradient.mul_(factor_);
    if (factor_ == 0)
      model.clear_gradients();  // no step at all
    else
      inner_.step(model);
  }

 private:
  at::Tensor compute(Model& model, const at::Tensor& x, const Units& part) const override {
    return inner_.forward(model, x, part);
  }
  Precision& inner_;
  const double factor_;
};

// Strategy that loses the gradients.
class Forgetful : public Strategy {
 public:
  Forgetful(Strategy& inner, Model& model) : inner_(inner), model_(model) {}
  at::Tensor forward(const at::Tensor& images, PhaseClock& clock) override {
    return inner_.forward(images, clock);
  }
  void backward(const at::Tensor& loss, PhaseClock& clock) override {
    inner_.backward(loss, clock);
    for (const at::Tensor& gradient : model_.gradient_tensors()) gradient.zero_();
  }
  void use_batch_statistics(bool on) override { inner_.use_batch_statistics(on); }

 private:
  Strategy& inner_;
  Model& model_;
};

TEST(OneBatch, IsNotLearntWithoutAStepOrWithAWrongSign) {
  for (const double factor : {0.0, -1.0}) {
    TinyRank rank(twin_of(Row()));
    Broken broken(*rank.precision, factor);
    SliceParts whole = rank.parts();
    const SliceParts parts{whole.row,      whole.loader, whole.device, whole.model, broken,
                           whole.strategy, whole.group,  whole.link,   whole.spans, whole.progress};
    const std::vector<double> loss = run_slice(parts).loss;
    EXPECT_FALSE(learns(loss)) << "gradients times " << factor << ": " << loss.front() << " to "
                               << loss.back();
  }
}

TEST(OneBatch, IsNotLearntFromGradientsOfZero) {
  TinyRank rank(twin_of(Row()));
  Forgetful forgetful(*rank.strategy, *rank.model);
  EXPECT_FALSE(learns(losses(rank, forgetful)));
}

}  // namespace bench::one_batch_test
