// Nights in progress. They are noted in the history before their first row, so that none is lost.
#pragma once
#include <filesystem>
#include <map>
#include <ostream>
#include <string>

#include "harness/nightly/history.h"

namespace harness {

// HISTORY/open/ID.json, written before the night's first row and removed once the history has the night.
struct OpenNight {
  std::string id, tag, host, run;
  std::map<std::string, double> canaries;
  bool finished = false;

  KEYS(OpenNight, REQUIRED(id, "of the night"), REQUIRED(tag, "free text"), REQUIRED(host, "that it runs on"),
       REQUIRED(run, "folder of its records"), REQUIRED(canaries, "ms by name, those measured so far"),
       REQUIRED(finished, "all rows have ended"));
};

// Appends the night's current state to its file. Throws std::runtime_error when it can't be written.
void write_open_night(const std::filesystem::path& history, const OpenNight& night);
void close_night(const std::filesystem::path& history, const std::string& id);

// The night of the records that are there by now.
Night night_of(const OpenNight& open, const Records& records);

// Adds unfinished nights of `host` that have usable records to the history and prints what it did. The caller
// holds the host's lock (lock_nights in nightly.cpp), so none of these nights is running.
void adopt_open_nights(History& history, const std::string& host, std::ostream& console);

// `wanted`, or `wanted` with a number if this id is in use.
std::string new_night_id(const History& history, const std::string& wanted);

}  // namespace harness
