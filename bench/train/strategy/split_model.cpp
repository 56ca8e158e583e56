// split_model: the network's first half of units on one device, the second half on another, in one process.
// The batch passes them in pipeline_micro_batches parts, so that both are busy. With more than two devices
// each half has several replicas, among which the batch is divided as by data_parallel.
#include "bench/train/strategy/data_parallel.h"

namespace bench {
namespace {

constexpr int64_t kStages = 2;

const bool registered_strategy_split_model = StrategyRegistry::instance().add(
    {"strategy",
     "split_model",
     "one process, the network's halves on two devices, in micro-batches; with more devices several such "
     "pairs",
     {.process_per_device = false, .several_devices = true, .stages = kStages}},
    [](const StrategyContext& context) { return std::make_unique<DataParallel>(context, kStages); });

}  // namespace
}  // namespace bench
