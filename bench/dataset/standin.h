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
  // Above 0: a set to measure accuracy on, `images` of at most kLearnableClasses classes in train and as many
  // as this in val. Else train alone, and no network need tell its classes apart.
  int64_t validation = 0;
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
