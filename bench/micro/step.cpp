// step/: the training step on synthetic data, per precision. phase_clock/: the cost of one phase boundary.
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "bench/micro/options.h"
#include "bench/train/slice.h"

namespace bench {
namespace {

// The sizes of the rehearsal scale, so that results are comparable with a row's phases.
harness::Row rehearsal_row(const std::string& precision, int64_t batch) {
  harness::Row row;
  row.storage = "synthetic";
  row.precision = precision;
  row.width = 16;
  row.image_px = 64;
  row.batch = batch;
  row.warmup_batches = 5;
  row.timed_batches = 20;
  return row;
}

// Runs run_slice() (forward, loss, accuracy, backward, update) on the synthetic storage.
void time_step(benchmark::State& state, const harness::Row& row) {
  at::set_num_threads(1);
  StorageOptions storage_options;
  storage_options.dataset.images.resize(size_t(row.batch));
  const auto storage = StorageRegistry::instance().find(row.storage)(storage_options);
  const auto device = DeviceRegistry::instance().find("cpu")({.row = row, .batch_size = row.batch});
  const auto made = make_model(row);
  Model& model = *made;
  const auto precision = PrecisionRegistry::instance().find(row.precision)({at::kCPU, row});
  precision->convert(model);
  const auto group = GroupRegistry::instance().find("none")(GroupOptions());
  const Link link = LinkRegistry::instance().find(row.link)(LinkOptions());
  const auto strategy =
      StrategyRegistry::instance().find("single")({row, model, *precision, *device, *group});
  for (auto _ : state) {
    LoaderOptions load;
    load.batch_size = row.batch;
    load.image_px = row.image_px;
    load.threads = 0;
    load.sampler.records = row.batch;
    const auto loader = make_loader(*storage, load);
    harness::ProgressSlot slot{};
    Spans spans;
    const SliceResult result =
        run_slice({row, *loader, *device, model, *precision, *strategy, *group, link, spans, slot});
    state.SetIterationTime(result.total_s);  // an iteration is a slice of 20 steps
  }
  const double steps = double(state.iterations() * row.timed_batches);
  state.counters["images_per_second"] =
      benchmark::Counter(steps * double(row.batch), benchmark::Counter::kIsRate);
  state.counters["s_per_step"] =
      benchmark::Counter(steps, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void time_phase_clock(benchmark::State& state) {
  PhaseClock clock(1, true);
  clock.start();
  int64_t calls = 0;
  for (auto _ : state) {
    clock.enter(Phase::other);
    if (++calls % 1024 == 0) clock.start();  // forgets these phases, which would fill the memory
  }
}

const bool registered_micro_step = add_family([](const MicroOptions&) {
  for (const Value& value : registered_values())
    if (value.axis == "precision" && value.missing.empty())
      for (int64_t batch : {16, 32})
        benchmark::RegisterBenchmark(fmt::format("step/{}/batch:{}", value.name, batch).c_str(), time_step,
                                     rehearsal_row(value.name, batch))
            ->UseManualTime()
            ->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("phase_clock/enter", time_phase_clock);
});

}  // namespace
}  // namespace bench
