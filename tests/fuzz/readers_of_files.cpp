// Readers of the files that users write for run_matrix, and of those that it writes.
#include "harness/base/file.h"
#include "harness/base/json_text.h"
#include "harness/config/config.h"
#include "harness/config/device_file.h"
#include "harness/config/hosts.h"
#include "harness/config/machine_file.h"
#include "harness/config/prices.h"
#include "harness/nightly/night.h"
#include "harness/own_job/profiler_trace.h"
#include "harness/stats/records.h"
#include "tests/fuzz/reader.h"

namespace {

void read_lines(const Place& place, const std::function<void(const nlohmann::json&)>& take) {
  std::ostringstream warnings;
  std::ifstream input = base::open_regular(place.files[0]);
  base::read_json_lines(input, place.files[0], warnings, "left out",
                        [&](const nlohmann::json& line, int) { take(line); });
  if (!warnings.str().empty()) throw std::runtime_error(warnings.str());
}

}  // namespace

std::vector<Reader> readers_of_files() {
  return {{"matrix", {"x.yaml"}, [](const Place& place) { harness::load_matrix(place.files[0], {}); }},
          {"scales", {"x.yaml"}, [](const Place& place) { harness::load_scales(place.files[0]); }},
          {"device",
           {"x.yaml"},
           [](const Place& place) {
             const std::string text = harness::device_file_text(harness::read_device_file(place.files[0]));
             base::write_whole_file(place.files[0], text, false);
             if (harness::device_file_text(harness::read_device_file(place.files[0])) != text) std::abort();
           }},
          {"prices", {"x.yaml"}, [](const Place& place) { harness::read_prices(place.files[0]); }},
          {"machine", {"x.yaml"}, [](const Place& place) { harness::read_machine(place.files[0]); }},
          {"hostfile",
           {"hosts"},
           [](const Place& place) {
             if (const std::string why = harness::hostfile_problem(place.files[0]); !why.empty())
               throw std::runtime_error(why);
           },
           nullptr,
           false},
          {"records",
           {"records.jsonl"},
           [](const Place& place) {
             std::ostringstream warnings;
             harness::Attempts attempts;
             harness::read_records(place.folder, warnings, &attempts);
             if (!warnings.str().empty()) throw std::runtime_error(warnings.str());
           }},
          {"history",
           {"nights.jsonl"},
           [](const Place& place) {
             read_lines(place, [](const nlohmann::json& line) { harness::decode<harness::Night>(line); });
           }},
          {"trace", {"x.json.gz"}, [](const Place& place) {
             const harness::ProfilerTrace trace = harness::read_profiler_trace(place.files[0]);
             try {
               harness::traced_steps(trace, 32);
             } catch (const std::runtime_error& error) {  // as its caller does
               throw std::runtime_error(place.files[0].string() + ": " + error.what());
             }
           }}};
}
