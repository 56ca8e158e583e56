// Writes a stand-in for ImageNet with the same statistics and layout, generated from a seed.
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
  // Number of images in val. Above 0: a set for accuracy measurements with learnable classes, at most
  // kLearnableClasses. 0: only train, whose classes need not be learnable.
  int64_t validation = 0;
};

struct StandinResult {
  int64_t written = 0;  // number of images written; 0: the set was complete
  double seconds = 0;   // time spent writing
};

// Resumes an interrupted call with the same options. Throws std::runtime_error with the next step (also if
// the folder holds anything else), or base::Interrupted.
StandinResult make_standin(const StandinOptions& options);

}  // namespace bench
