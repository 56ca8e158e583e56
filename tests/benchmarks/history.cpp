// history/NIGHTS: the cost of one more night after its rows have run: appends it to a history of that many
// nights (27 rows, 4 canaries each), reads all nights, detects changes and writes the trend page. Limits for
// 5,000 nights: 5 s, and 5 MB for the page.
#include "harness/nightly/history.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "harness/config/installation.h"
#include "harness/nightly/analysis.h"
#include "harness/nightly/trend_page.h"
#include "harness/stats/records.h"
#include "tests/support/made_up_nights.h"

namespace {

namespace fs = std::filesystem;

// Writes a history as `nightly` does, including the phases and metrics, which make up most of each line.
std::vector<harness::Night> fill(const fs::path& folder, size_t nights) {
  std::vector<harness::Night> made =
      made_up_nights({.nights = nights, .row_step = nights - 10, .machine_step = nights / 2});
  fs::create_directories(folder);
  std::ofstream output(folder / "nights.jsonl");
  for (harness::Night& night : made) {
    for (harness::NightRow& row : night.rows) {
      for (const std::string& phase : harness::phase_names()) row.phases_ms[phase] = 1.234567;
      for (const harness::Metric& metric : harness::metrics())
        if (metric.better) row.metrics[metric.name] = 1.234567;
    }
    output << encode(night) << '\n';
  }
  return made;
}

double megabytes(const fs::path& file) { return double(fs::file_size(file)) / 1e6; }

void history(benchmark::State& state) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("history-{}", getpid());
  harness::Night night = fill(folder, size_t(state.range(0))).back();
  const fs::path project = harness::find_installation().project;
  std::ostringstream console;
  size_t alarms = 0;
  for (auto _ : state) {
    night.id += "+";
    harness::History opened(folder, console);
    opened.append(night);
    const std::vector<harness::Night>& nights = opened.nights();
    const harness::Analysis analysis = analyse(nights, night, folder / "noise", project, console);
    harness::write_trend_page(folder, analysis.trends, analysis.alarms, nights, project, console);
    alarms = analysis.alarms.size();
  }
  if (alarms == 0) state.SkipWithError("the step in row 7 was not found");
  state.counters["alarms"] = double(alarms);
  state.counters["history_MB"] = megabytes(folder / "nights.jsonl");
  state.counters["page_MB"] = megabytes(folder / "trend.html");
  fs::remove_all(folder);
}

BENCHMARK(history)->Arg(5000)->Iterations(3)->Unit(benchmark::kSecond)->UseRealTime();

}  // namespace
