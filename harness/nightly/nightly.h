// Nightly: a matrix run for a history, by cron, a systemd timer or a CI scheduler.
#pragma once
#include <ostream>
#include <string>

#include "harness/config/installation.h"
#include "harness/config/request.h"

namespace harness {

struct NightlyRequest {
  fs::path history;    // empty: results/history
  std::string tag;     // kept with the night
  bool report = true;  // tables, figures and page in the run's folder, as a normal run leaves them
};

fs::path history_folder(const Installation& installation, const fs::path& asked);

// Adds to the history what earlier nights left behind, runs the rows request.repeats times (3 when it says
// nothing) between two rounds of canaries, adds this night, looks for changes that lasted and writes the
// trend page. Returns kNothingRan when no row has a figure, kRowFailed when a run failed or the night could
// not be kept or examined, kRegression when a row got slower that no earlier night has told and the machine
// didn't, kInterrupted after Ctrl-C (what finished is kept). Throws PreparationError, ConfigError or
// std::runtime_error before anything has run.
int run_nightly(const Installation& installation, const Request& request, const NightlyRequest& nightly,
                std::ostream& console);

}  // namespace harness
