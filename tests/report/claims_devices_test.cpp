// unit: verdicts on the claims about devices and threads under DataParallel, each way they can come out
#include "harness/config/device_file.h"
#include "tests/support/claim_records.h"

namespace harness::claims_devices_test {

using enum ClaimVerdict;

const Change kProcessor = {"", "/device/kind", "cpu"};
const Change kTwoCores = {"", "/rank_map", {{{"host", "vm"}, {"cpus", {0, 1}}}}};
const Change kDeviceFile = {"", "/emulated", {"device: v100-article (configs/devices), durations x 4"}};

// Rows [0], [5], [7] and [1], [2], [4] with the compute and copies between devices of 1, 2 and 4 devices.
std::vector<RowTimes> on_devices(const std::vector<double>& compute, const std::vector<double>& copies,
                                 const std::vector<double>& load) {
  std::vector<RowTimes> rows;
  for (const auto& ids : {std::vector<const char*>{"0", "5", "7"}, {"1", "2", "4"}})
    for (size_t i = 0; i < ids.size(); ++i)
      rows.push_back({ids[i], with(step_of(load[i], compute[i]),
                                   {{"scatter", 0.8 * copies[i]}, {"broadcast", 0.2 * copies[i]}})});
  return rows;
}

const std::vector<double> kWaits = {1, 4, 20};
std::vector<RowTimes> scaling() { return on_devices({80, 40, 20}, {0.1, 6, 10}, kWaits); }

TEST(Claims5To7, MoreDevicesComputeFasterWaitLongerAndGainLess) {
  std::vector<RowTimes> equal;
  for (const char* id : {"0", "5", "7", "1", "2", "4"}) equal.push_back({id, step_of(1, 40)});
  const std::string shared = "4 replicas and 4 loader threads share 2 cores";
  expect("as stated", scaling(), {}, {{"5a", holds}, {"6a", holds}, {"7a", holds}, {"7b", holds}});
  expect("opposite", on_devices({20, 40, 20}, {0.1, 6, 1}, {10, 1, 1}), {},
         {{"5a", does_not_hold}, {"6a", does_not_hold}, {"7a", does_not_hold}, {"7b", does_not_hold}});
  expect("replicas that share cores", equal, {kProcessor, kTwoCores},
         {{"5a", cannot_be_tested, shared},
          {"6a", cannot_be_tested, shared},
          {"7a", cannot_be_tested, shared},
          {"7b", cannot_be_tested, shared}},
         "rehearsal");
  expect("a set rate of reading", scaling(), {{"7", "/emulated", {"read_rate: 26 MB/s"}}},
         {{"6a", by_construction}});
  expect("forward, backward and copies are the device file's, who waits for the loader is measured",
         scaling(), {kDeviceFile},
         {{"5a", by_construction}, {"9a", by_construction}, {"6a", holds}, {"7b", holds}});
}

// For scaling(), on emulated devices whose timelines also have the waits for images.
std::vector<Change> emulated(const std::vector<Change>& more = {}) {
  const Emulation emulation{read_device_file(device_file(SOURCE_DIR, kDefaultDeviceFile)), 1, 4};
  std::vector<Change> changes = {
      {"", "/device/kind", "emulated"}, kDeviceFile, {"", "/emulation", encode(emulation)}};
  for (const auto& ids : {std::vector<const char*>{"0", "5", "7"}, {"1", "2", "4"}})
    for (size_t i = 0; i < ids.size(); ++i)
      changes.push_back({ids[i], "/device_ms/load", json(1, json(4, kWaits[i]))});
  changes.insert(changes.end(), more.begin(), more.end());
  return changes;
}

TEST(Claims5To9, OfEmulatedDevices) {
  const Change many_threads = {"", "/config/loader_threads", 80};
  const std::vector<Change> set_cores = {
      {"",
       "/emulated",
       {"device: v100-article (configs/devices), durations x 4",
        "cores: each decodes 117.5 images/s, / 4 as durations are longer"}},
      {"", "/config/device_file", "v100-article"},
      {"", "/config/core_images_per_s", 117.5}};
  std::vector<Change> slow_loader = set_cores;
  slow_loader.push_back({"7", "/ceilings", {{"batches", 4}, {"loader_ms", 1e6}}});
  expect("marked figures", scaling(), emulated(),
         {{"6a", holds, "), emulated"},
          {"5a", by_construction, "), emulated"},
          {"9a", by_construction,
           "follows from a setting of [7]: its device file v100-article, calibrated on this row's shares of "
           "scatter and broadcast"}});
  expect("five runs are needed too", {{"0", step_of(1, 80), 1}, {"7", step_of(20, 20), 1}},
         {{"", "/device/kind", "emulated"},
          {"7", "/device_ms/load", json(1, json(4, 20.0))},
          {"0", "/device_ms/load", json(1, json(4, 1.0))}},
         {{"6a", undecided, "1 run of 5, and the scatter of loader-bound rows takes 3 repeats"}});
  expect("too few cores for a row that waits for its loader", scaling(), emulated({many_threads}),
         {{"6a", cannot_be_tested, "in [7] 80 loader threads share"}});
  expect("too few cores for a row that doesn't", scaling(),
         emulated({many_threads, {"7", "/device_ms/load", json(1, json(4, 0.1))}}), {{"6a", does_not_hold}});
  expect("with emulated cores who waits for images is a setting", scaling(), emulated(set_cores),
         {{"6a", by_construction, "cores: each decodes 117.5"}, {"7b", holds}});
  expect("the loader is slower than its emulated cores", scaling(), emulated(slow_loader),
         {{"7b", cannot_be_tested, "doesn't reach the "}});
  expect("a processor", {{"0", step_of(1, 40)}, {"7", step_of(1, 40)}}, {kProcessor, kTwoCores},
         {{"6a", cannot_be_tested, "`--device emulated` has devices apart"},
          {"9a", cannot_be_tested, "`--device emulated` has devices apart"}},
         "rehearsal");
}

TEST(Claim8, ThreadsHelpUntilTheyAreTooMany) {
  const auto sweep = [](double seven, double ten, double eleven) -> std::vector<RowTimes> {
    return {{"7", step_of(seven, 20)}, {"10", step_of(ten, 20)}, {"11", step_of(eleven, 20)}};
  };
  expect("as stated", sweep(20, 5, 10), {}, {{"8a", holds}, {"8b", holds}});
  expect("opposite", sweep(5, 20, 10), {}, {{"8a", does_not_hold}, {"8b", does_not_hold}});
  expect("clipped", sweep(20, 5, 10), {{"10", "/notes", {"cpus: 48 clipped to 16"}}},
         {{"8a", cannot_be_tested, "48 clipped to 16"}});
  expect("few cores", sweep(20, 5, 10), {{"10", "/config/cpus", 16}},
         {{"8a", cannot_be_tested, "48 loader threads share 16 cores"}});
}

TEST(Claim8, MoreThreadsHelpMainlyByLessWaiting) {
  const auto two = [](double load, double compute, int repeats = 5) -> std::vector<RowTimes> {
    return {{"7", step_of(20, 40), repeats}, {"10", step_of(load, compute), repeats}};
  };
  expect("as stated", two(5, 40), {}, {{"8c", holds, "holds above 50 %"}});
  expect("5 of 20 ms", two(15, 25), {}, {{"8c", does_not_hold}});
  expect("too few runs", two(5, 40, 4), {}, {{"8c", undecided}});
  expect("no gain", two(20, 40), {}, {{"8c", cannot_be_tested, "not faster than [7]"}});
}

TEST(Claim9, ScatterTakesNearlyAFifthAndBroadcastRoughlyTwoPercent) {
  const auto dp = [](double scatter, double broadcast) -> std::vector<RowTimes> {
    return {{"7", with(step_of(1, 40), {{"scatter", scatter}, {"broadcast", broadcast}})}};
  };
  expect("as stated", dp(10, 1), {},
         {{"9a", holds, "from 15 to 20 %; the article doesn't say of what"}, {"9b", holds}});
  expect("opposite", dp(1, 10), {}, {{"9a", does_not_hold}, {"9b", does_not_hold}});
  expect("32 % are not nearly 20 %", dp(20, 0.1), {}, {{"9a", does_not_hold}});
  expect("12 % are not either, nor 0.2 % roughly 2 %", dp(6, 0.1), {},
         {{"9a", does_not_hold}, {"9b", does_not_hold}});
  expect("3.7 % are not roughly 2 %", dp(6, 1.9), {}, {{"9b", does_not_hold}});
  expect("a processor", dp(10, 1), {kProcessor}, {{"9a", cannot_be_tested}});
  expect("host times of a GPU are when work was handed over", dp(10, 1), {{"", "/device_ms", json::object()}},
         {{"9a", cannot_be_tested}});
}

}  // namespace harness::claims_devices_test
