// Can this machine feed so many accelerators? `feed` measures it on an emulated device that is as fast as all
// of them; `machine` measures what its loader delivers, and how many devices that feeds, with real work
// alone.
#pragma once
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "harness/config/installation.h"
#include "harness/config/request.h"
#include "harness/config/scales.h"
#include "harness/contract/emulated_device.h"

namespace harness {

struct FeedRequest {
  std::string device;   // name of a device file, also as emulated:NAME
  int64_t devices = 0;  // number in question
  std::string model = "resnet18", storage = "files";
  double within_s = 600;  // no run starts later
};

// To a loader, N devices are one that is N times as fast. Measures the utilisation with the asked number,
// searches the largest number with 90 %, confirms it and one more, and changes one thing at a time to find
// what binds. Every run is appended to the records as it ends. Returns kAllGood when the asked number is fed,
// kRegression when it isn't, kNothingRan without a figure for it, kRowFailed when a run failed, kInterrupted
// after Ctrl-C. Throws ConfigError or PreparationError before anything has run.
int run_feed(const Installation& installation, Request request, const FeedRequest& feed,
             std::ostream& console);

// Runs the rows of configs/machine.yaml on the processor, as a run of its own in request.out; `data`, `seed`,
// `set`, `only` and `repeats` of the request count. Prints the answer (report/summary/machine_answer.h) last.
// Returns the exit code. Throws ConfigError or PreparationError before anything has run.
int run_machine(const Installation& installation, Request request, std::ostream& console);

// Images per second of an emulated device at the article's batch of one device, over which its fixed costs
// are spread.
inline double device_images_per_s(const PrecisionCosts& costs) {
  constexpr double kDeviceBatch = 256;
  return 1e3 * kDeviceBatch / costs.step_ms(kDeviceBatch);
}

struct FeedRows {
  Row asked;                                         // id: feed
  std::vector<Row> changed;                          // ids: the purposes in RecordFeed
  std::vector<std::pair<Row, std::string>> refused;  // changes that can't be made here, and why
};

// `row`: the row of configs/feed.yaml with --set applied. Cores and loader threads become all cores of this
// machine, the storage that of `feed`, the page cache cold where the storage has one, unless --set names
// them. Throws ConfigError for an unknown storage or model, and for settings that contradict each other.
FeedRows feed_rows(const Row& row, const FeedRequest& feed, const Request& request, const Scale& scale,
                   const AxisValues& values);

}  // namespace harness
