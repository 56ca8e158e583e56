// Writes a stand-in for ImageNet: same statistics, same layout, same odd files, made in minutes from a seed.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

namespace bench {

struct StandinOptions {
  std::filesystem::path out;
  int64_t images = 0;
  int64_t classes = 100;
  int64_t seed = 1;
  int threads = 0;  // 0: one per core that this process may use
};

struct StandinResult {
  int64_t written = 0;      // images that were missing; 0: the finished set was there already
  double seconds = 0;       // of writing
  std::string description;  // the measured distribution
};

// Goes on where an interrupted call with the same options stopped. Refuses a folder that holds anything else.
// Throws std::runtime_error with the next step, or Interrupted.
StandinResult make_standin(const StandinOptions& options);

}  // namespace bench
