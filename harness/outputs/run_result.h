// RunResult: a run as programs that watch it want it: test cases and gauges. outputs.h writes it.
#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "harness/contract/record.h"
#include "harness/report/summary/summary.h"

namespace harness {

struct TestCase {
  enum class Result { passed, failed, error, skipped };  // error: it could not be tested to its end
  std::string suite;                                     // rows, checks, claims, nights
  std::string group;                                     // scale and device: emulated.emulated
  std::string name;
  Result result = Result::passed;
  std::string message = {};
  double seconds = 0;  // 0: unknown
};

// A figure at one moment, named after Prometheus' conventions: base units, each label with few values.
struct Gauge {
  struct Sample {
    std::vector<std::pair<std::string, std::string>> labels;
    double value = 0;  // finite
  };
  std::string name, unit, help;  // unit as UCUM has it: s, 1
  std::vector<Sample> samples = {};
};

struct RunResult {
  std::filesystem::path run;
  std::string host, started_at;  // ISO 8601 in UTC, of the first row; empty without records
  std::vector<TestCase> cases;
  std::vector<Gauge> gauges;
  std::string markdown;  // the page's first screen and the table
};

// Rows: OK passes, SKIPPED is skipped, INVALID fails, any other status is an error. Checks: those of each row
// that has some. Claims: one of the run's own matrix fails where it does not hold; what the article claims is
// a finding either way, and passes; without an answer it is skipped.
RunResult result_of_run(const std::filesystem::path& run, const Records& records);

}  // namespace harness
