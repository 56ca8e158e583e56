// net: every strategy over every backend with real processes: gradients, losses and final weights against one
// device on the whole batch; determinism; SyncBN; the options of ddp, apex and horovod.
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>

#include "bench/train/ceiling.h"
#include "bench/train/rank_report.h"
#include "tests/support/merged.h"
#include "tests/support/ranks.h"
#include "tests/support/training_setup.h"

namespace bench::distributed_test {

// A loader with one fixed global batch; each rank always returns its part of it.
class ShardLoader : public Loader {
 public:
  ShardLoader(const harness::Row& row, const RankInfo& rank) : share_(row.batch / rank.world_size) {
    at::manual_seed(11);
    images_ = at::randn({row.batch, 3, row.image_px, row.image_px})
                  .narrow(0, rank.rank * share_, share_)
                  .contiguous();
    labels_ =
        at::randint(row.classes, {row.batch}, at::kLong).narrow(0, rank.rank * share_, share_).contiguous();
  }
  void start() override {}
  Batch next() override {
    Batch batch;
    batch.images = images_.const_data_ptr<float>();
    batch.labels = labels_.const_data_ptr<int64_t>();
    batch.size = share_;
    return batch;
  }
  void release(const Batch&) override {}
  int ready_batches() const override { return 1; }
  LoaderStats stats() const override { return {}; }

 private:
  int64_t share_;
  at::Tensor images_, labels_;
};

harness::Row row_of(const std::string& strategy, const std::string& backend, int64_t ranks,
                    const std::string& precision = "o0") {
  harness::Row row = tiny_row(strategy, ranks, precision);
  row.backend = backend;
  row.batch = 12;  // equal counts for 1, 2, 3 and 4 ranks
  row.bucket_mib = 0.05;
  row.first_bucket_mib = 0.01;
  row.message_size = 10000;
  row.fusion_mib = 0.1;
  return row;
}

// Batch norm is frozen unless it is synchronised: the shares' own statistics differ from the whole batch's by
// design.
nlohmann::json train(const harness::Row& row, const RankInfo& rank) {
  TinyRank tiny(row, rank);
  ShardLoader loader(row, rank);
  const SliceParts parts = tiny.parts_with(loader, *tiny.strategy);
  const Check gradients = check_gradients(parts, rank);
  const bool whole_batch = row.sync_bn || std::getenv("TEST_BATCH_STATISTICS");
  parts.strategy.use_batch_statistics(whole_batch);
  tiny.group->mute_collectives(!row.collectives);
  const SliceResult result = run_slice(parts);
  tiny.group->mute_collectives(false);
  nlohmann::json report = harness::encode(rank_report(parts, rank, result, {}, {gradients}));
  report["ceiling_ms"] = 0.0;
  if (row.sync_bn || whole_batch)
    for (const NamedTensor& buffer : tiny.model->buffers()) {
      const at::Tensor values = buffer.tensor.to(at::kDouble).flatten();
      report["buffers"][buffer.name] = std::vector<double>(values.const_data_ptr<double>(),
                                                           values.const_data_ptr<double>() + values.numel());
    }
  LoaderOptions made_up;
  made_up.batch_size = row.batch / rank.world_size;
  made_up.image_px = row.image_px;
  made_up.classes = row.classes;
  report["ceilings"] = harness::encode(compute_ceiling(parts, made_up, 3));
  const auto reports = tiny.group->gather(report.dump());
  if (rank.rank != 0) return {};
  nlohmann::json merged = harness::encode(merged_texts(row, reports));
  merged["weights"] = report["weights"];
  if (report.contains("buffers")) merged["buffers"] = report["buffers"];
  return merged;
}

// Checks that every rank has phases within the batch, and that some have collectives.
void expect_timeline(const nlohmann::json& timeline, int ranks) {
  EXPECT_EQ(timeline["clocks"], "one host");
  std::map<int, std::pair<double, double>> batch;  // by rank
  std::set<int> with_all_reduce;
  for (const auto& event : timeline["events"]) {
    const int rank = event["rank"];
    const double begin = event["begin_ms"], end = event["end_ms"];
    EXPECT_LE(begin, end);
    if (event["track"] == "host") {
      batch.try_emplace(rank, begin, end).first->second.second = end;
      continue;
    }
    EXPECT_EQ(event["track"], "collectives");
    EXPECT_GE(begin, batch.at(rank).first);
    if (event["name"] == "all_reduce") with_all_reduce.insert(rank);
  }
  EXPECT_EQ(batch.size(), size_t(ranks));
  EXPECT_EQ(with_all_reduce.size(), size_t(ranks));
  for (const auto& event : timeline["events"])
    EXPECT_LE(event["end_ms"].get<double>(), batch.at(event["rank"]).second + 1e-6);
}

// Not a separate test: run by each process of the tests below.
TEST(DISABLED_Rank, Trains) {
  const RankInfo rank = rank_from_environment();
  const auto merged = train(child_row(), rank);
  if (rank.rank == 0) std::ofstream(child_directory() / "result.json") << merged;
}

void expect_like_one_device(const nlohmann::json& result, harness::Row row, double tolerance) {
  for (const auto& check : result["checks"]) EXPECT_TRUE(check["ok"].get<bool>()) << check;
  at::set_num_threads(1);
  row.strategy = "single";
  row.backend = "none";
  row.devices = 1;
  row.sync_bn = false;
  static std::map<std::string, nlohmann::json> trained;  // many rows are compared with the same one
  const bool whole_batch = std::getenv("TEST_BATCH_STATISTICS");
  nlohmann::json& alone = trained[harness::to_json(row).dump() + (whole_batch ? " whole" : "")];
  if (alone.is_null()) alone = train(row, {});
  for (size_t batch = 0; batch < alone["loss"].size(); ++batch) {
    const double expected = alone["loss"][batch];
    EXPECT_NEAR(result["loss"][batch].get<double>(), expected, tolerance * expected) << "batch " << batch;
  }
  if (!result.contains("buffers")) return;
  for (const auto& [name, values] : alone["buffers"].items())
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(result["buffers"][name][i].get<double>(), values[i].get<double>(),
                  2e-3 * std::max(1.0, std::abs(values[i].get<double>())))
          << name;
}

using Setup = std::tuple<std::string, std::string, int, std::string>;

std::string name_of(const testing::TestParamInfo<Setup>& info) {
  const auto& [strategy, backend, ranks, precision] = info.param;
  return strategy + "_" + backend + "_" + std::to_string(ranks) + "_" + precision;
}

// Starts the ranks of rows; what a row without luck in it gives is kept for all tests of this file.
class Rows : public Ranks {
 protected:
  nlohmann::json run(const harness::Row& row) {
    const auto outcome = launch(row);
    EXPECT_EQ(outcome.status, "OK") << outcome.reason;
    return outcome.status == "OK" ? result() : nlohmann::json();
  }
  const nlohmann::json& run_once(const harness::Row& row) {
    static std::map<std::string, nlohmann::json> found;
    nlohmann::json& one = found[harness::to_json(row).dump()];
    if (one.is_null()) one = run(row);
    return one;
  }
};

class Distributed : public Rows, public testing::WithParamInterface<Setup> {};

TEST_P(Distributed, EqualsOneDeviceOnTheWholeBatch) {
  const auto& [strategy, backend, ranks, precision] = GetParam();
  if (const std::string why = missing(backend); !why.empty()) GTEST_SKIP() << why;
  const harness::Row row = row_of(strategy, backend, ranks, precision);
  const auto& found = run_once(row);
  ASSERT_FALSE(found.is_null());
  expect_like_one_device(found, row, precision == "o0" ? 1e-3 : 0.1);
  EXPECT_GT(found["strategy"]["buckets"].size(), precision == "o3" ? 0u : 1u)
      << "small buckets split the model";
  if (ranks == 1) return;
  EXPECT_EQ(found["samples_ms"]["sync"].size(), size_t(ranks));
  // What was all-reduced is what the gradients come to, batch after batch.
  int64_t bytes = 0;
  for (const auto& bucket : found["strategy"]["buckets"]) bytes += bucket["bytes"].get<int64_t>();
  EXPECT_EQ(found["communication"]["all_reduced_bytes"].get<int64_t>(), bytes * row.timed_batches);
  EXPECT_GT(found["spans_ms"]["communication"][0][0].get<double>(), 0.0);
  expect_timeline(found["timeline"], ranks);
  EXPECT_TRUE(found["ceilings"]["compute"].contains("sync"));
}

INSTANTIATE_TEST_SUITE_P(Float32, Distributed,
                         testing::Combine(testing::Values("ddp", "apex", "horovod"),
                                          testing::Values("gloo", "mpi"), testing::Values(1, 2, 3, 4),
                                          testing::Values("o0")),
                         name_of);
INSTANTIATE_TEST_SUITE_P(SixteenBit, Distributed,
                         testing::Values(Setup{"ddp", "gloo", 2, "o1"}, Setup{"ddp", "mpi", 3, "o2"},
                                         Setup{"ddp", "gloo", 2, "o2"}, Setup{"apex", "mpi", 3, "o2"},
                                         Setup{"horovod", "mpi", 3, "o2"}, Setup{"horovod", "gloo", 2, "o3"}),
                         name_of);

// It has no buffers and no batch norm, and its classifier starts at zero.
class TransformerOn : public Rows, public testing::WithParamInterface<Setup> {};

TEST_P(TransformerOn, EqualsOneDeviceOnTheWholeBatch) {
  const auto& [strategy, backend, ranks, precision] = GetParam();
  if (const std::string why = missing(backend); !why.empty()) GTEST_SKIP() << why;
  harness::Row row = row_of(strategy, backend, ranks, precision);
  row.model = "vit_tiny";
  const auto& found = run_once(row);
  ASSERT_FALSE(found.is_null());
  expect_like_one_device(found, row, 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Ranks, TransformerOn,
                         testing::Values(Setup{"ddp", "gloo", 2, "o0"}, Setup{"apex", "gloo", 2, "o0"},
                                         Setup{"horovod", "gloo", 2, "o0"}),
                         name_of);

class SyncBatchNormOn : public Rows, public testing::WithParamInterface<Setup> {};

// Outputs (through the losses), gradients (through the check and the following losses) and running statistics
// are those of one process that has the whole batch.
TEST_P(SyncBatchNormOn, GivesTheStatisticsOfTheWholeBatch) {
  const auto& [strategy, backend, ranks, precision] = GetParam();
  if (const std::string why = missing(backend); !why.empty()) GTEST_SKIP() << why;
  harness::Row row = row_of(strategy, backend, ranks, precision);
  row.sync_bn = true;
  const auto& found = run_once(row);
  ASSERT_FALSE(found.is_null());
  ::setenv("TEST_BATCH_STATISTICS", "1", 1);  // for the single device that it is compared with
  expect_like_one_device(found, row, 2e-3);
  ::unsetenv("TEST_BATCH_STATISTICS");
  EXPECT_TRUE(found["spans_ms"].contains("sync_bn/bn1"));
  EXPECT_TRUE(found["spans_ms"].contains("sync_bn/layer4.1.bn2"));
}

INSTANTIATE_TEST_SUITE_P(Ranks, SyncBatchNormOn,
                         testing::Values(Setup{"apex", "mpi", 1, "o0"}, Setup{"apex", "mpi", 2, "o0"},
                                         Setup{"apex", "mpi", 3, "o0"}, Setup{"ddp", "gloo", 4, "o0"}),
                         name_of);

class Options : public Rows {};

TEST_F(Options, TheSameSeedGivesTheSameWeights) {
  for (const char* strategy : {"ddp", "apex"}) {
    const harness::Row row = row_of(strategy, "gloo", 3);
    const auto &first = run_once(row), second = run(row);
    EXPECT_EQ(first["weights"], second["weights"]) << strategy;
    EXPECT_EQ(first["loss"], second["loss"]) << strategy;
  }
  // Which gradients Horovod fuses depends on time; with two ranks a sum is the same in any order.
  const harness::Row row = row_of("horovod", "gloo", 2);
  EXPECT_EQ(run_once(row)["weights"], run(row)["weights"]);
}

TEST_F(Options, WithoutCollectivesEachRankKeepsItsOwnGradients) {
  for (const auto& [strategy, backend] : {std::pair("ddp", "gloo"), std::pair("apex", "mpi")}) {
    if (!missing(backend).empty()) continue;
    harness::Row row = row_of(strategy, backend, 2);
    row.sync_bn = row.strategy == std::string("apex");
    row.collectives = false;
    const auto found = run(row);
    for (const auto& check : found["checks"])
      EXPECT_TRUE(check["ok"].get<bool>()) << check << ": gradients are checked before the slice";
    EXPECT_EQ(found["communication"]["all_reduced_bytes"], 0) << strategy;
    EXPECT_EQ(found["communication"]["gathered_bytes"], 0) << strategy;
    row.collectives = true;
    EXPECT_NE(run_once(row)["weights"], found["weights"]) << strategy;
  }
}

TEST_F(Options, OfDdpChangeNothingButTheWay) {
  harness::Row view = row_of("ddp", "gloo", 2), fixed = view, half = view, brain = view;
  view.gradient_as_bucket_view = true;
  fixed.static_buckets = true;
  half.compression = "fp16";
  brain.compression = "bf16";
  const auto& plain = run_once(row_of("ddp", "gloo", 2));
  expect_like_one_device(run(view), view, 1e-3);
  const auto with_fixed = run(fixed);
  expect_like_one_device(with_fixed, fixed, 1e-3);
  EXPECT_NE(with_fixed["strategy"]["buckets"], plain["strategy"]["buckets"]);
  for (const auto& row : {half, brain}) {
    const auto compressed = run(row);
    EXPECT_EQ(2 * compressed["communication"]["all_reduced_bytes"].get<int64_t>(),
              plain["communication"]["all_reduced_bytes"].get<int64_t>());
    const double loss = compressed["loss"].back(), reference = plain["loss"].back();
    EXPECT_NEAR(loss, reference, 0.05 * reference) << row.compression;
  }
}

// 12 images as 2 ranks x 3 micro-batches of 2. Bytes: once per step, or after each micro-batch; the
// broadcasts of batch-norm statistics too.
TEST_F(Options, AccumulationReducesOnceAStepUnlessToldOtherwise) {
  harness::Row once = row_of("ddp", "gloo", 2), whole = once, every;
  once.accumulation = 3;
  every = once;
  every.sync_every_micro_batch = true;
  harness::Row view = once;
  view.gradient_as_bucket_view = true;
  const auto& plain = run_once(whole);
  const auto bytes = [](const nlohmann::json& found, const char* kind) {
    return found["communication"][kind].get<int64_t>();
  };
  for (const harness::Row& row : {once, every, view}) {
    const auto found = run(row);
    expect_like_one_device(found, whole, 1e-3);
    const int64_t times = row.sync_every_micro_batch ? 3 : 1;
    EXPECT_EQ(bytes(found, "all_reduced_bytes"), times * bytes(plain, "all_reduced_bytes"));
    EXPECT_EQ(bytes(found, "broadcast_bytes"), times * bytes(plain, "broadcast_bytes"));
  }
}

TEST_F(Options, DelayedApexReducesEverythingAtOnce) {
  harness::Row row = row_of("apex", "gloo", 2);
  row.delay_allreduce = true;
  const auto found = run(row);
  expect_like_one_device(found, row, 1e-3);
  EXPECT_EQ(found["communication"]["all_reduces"].size(), 1u);
}

TEST_F(Options, HorovodFusesUpToItsBuffer) {
  harness::Row row = row_of("horovod", "gloo", 2);
  row.fusion_mib = 64;
  row.cycle_ms = 200;  // far longer than a backward: one cycle sees all gradients
  EXPECT_LE(run(row)["communication"]["all_reduces"].size(), 2u);
  row.fusion_mib = 0.001;
  row.cycle_ms = 1;
  EXPECT_GT(run(row)["communication"]["all_reduces"].size(), 30u) << "each tensor alone";
}

}  // namespace bench::distributed_test
