// Nights under way: known to the history from before their first row on, so that one that is cut short isn't
// lost.
#pragma once
#include <filesystem>
#include <map>
#include <ostream>
#include <string>

#include "harness/nightly/history.h"

namespace harness {

// HISTORY/open/ID.json, on disk before the night's first row runs and gone once its line is in the history.
struct OpenNight {
  std::string id, tag, host;
  std::filesystem::path run;               // where its records are
  std::map<std::string, double> canaries;  // what is known of them by now
  bool finished = false;                   // all rows have ended
};

// Written once more when more is known. Throws std::runtime_error when the disk doesn't have it.
void write_open_night(const std::filesystem::path& history, const OpenNight& night);
void close_night(const std::filesystem::path& history, const std::string& id);

// Adds what `host` began and nobody ended, as far as it left usable records. The caller holds the host's
// NightLock, so none of them is running. Says what it did on `console`.
void adopt_open_nights(History& history, const std::string& host, std::ostream& console);

// `wanted`, with a number after it when the history holds that already.
std::string new_night_id(const History& history, const std::string& wanted);

}  // namespace harness
