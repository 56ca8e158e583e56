// standin.json: the parameters of the stand-in in a folder and whether it is finished.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "harness/contract/codec.h"

namespace bench {

inline constexpr int kStandinVersion = 2;  // increase it when the same seed gives other files

struct StandinRecord {
  int64_t seed = 0, images = 0, classes = 0;
  int version = kStandinVersion;
  bool finished = false;
  int64_t validation = 0;  // images in val
  std::string kind = "stand-in";

  static constexpr auto keys() {
    using harness::Key;
    constexpr auto required = harness::Presence::required;
    return known_keys(Key{"kind", &StandinRecord::kind, "stand-in"},
                      Key{"version", &StandinRecord::version, "of what the seed gives", required},
                      Key{"seed", &StandinRecord::seed, "of all images", required},
                      Key{"images", &StandinRecord::images, "in train", required},
                      Key{"classes", &StandinRecord::classes, "class folders", required},
                      Key{"finished", &StandinRecord::finished, "all images are written", required},
                      Key{"validation", &StandinRecord::validation, "images in val"});
  }
};

// Empty if the folder has no such file; throws std::runtime_error if it is damaged.
std::optional<StandinRecord> read_standin_record(const std::filesystem::path& folder);
void write_standin_record(const std::filesystem::path& folder, const StandinRecord& record);

}  // namespace bench
