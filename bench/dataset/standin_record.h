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

  KEYS(StandinRecord, KEY(kind, "stand-in"), REQUIRED(version, "of what the seed gives"),
       REQUIRED(seed, "of all images"), REQUIRED(images, "in train"), REQUIRED(classes, "class folders"),
       REQUIRED(finished, "all images are written"), KEY(validation, "images in val"));
};

// Empty if the folder has no such file; throws std::runtime_error if it is damaged.
std::optional<StandinRecord> read_standin_record(const std::filesystem::path& folder);
void write_standin_record(const std::filesystem::path& folder, const StandinRecord& record);

}  // namespace bench
