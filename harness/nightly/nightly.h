// Nightly: runs a matrix and adds it to a history; started by cron, a systemd timer or a CI scheduler.
#pragma once
#include <ostream>
#include <string>

#include "harness/config/installation.h"
#include "harness/config/request.h"

namespace harness {

struct NightlyRequest {
  fs::path history;    // empty: results/history
  std::string tag;     // kept with the night
  bool report = true;  // write tables, figures and page to the run's folder, as a normal run does
};

fs::path history_folder(const Installation& installation, const fs::path& asked);

// Adds unfinished earlier nights to the history, runs the rows request.repeats times (default 3) between two
// rounds of canaries, adds this night, searches for lasting changes and writes the trend page. Returns
// kNothingRan if no row has a figure, kRowFailed if a run failed or the night can't be stored or examined,
// kRegression if a row became slower, the machine did not, and no earlier night has reported it, kInterrupted
// after Ctrl-C (finished runs are kept). Throws PreparationError, ConfigError or std::runtime_error before
// anything has run.
int run_nightly(const Installation& installation, const Request& request, const NightlyRequest& nightly,
                std::ostream& console);

}  // namespace harness
