// split_model: data_parallel whose replicas are divided between two devices each (make_split_replica()).
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
