// standin.json: which stand-in a folder holds and whether it is finished.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace bench {

inline constexpr int kStandinVersion = 1;  // raise it when the same seed gives other files

struct StandinRecord {
  int64_t seed = 0, images = 0, classes = 0;
  int version = kStandinVersion;
  bool finished = false;
  std::string description;
  int64_t validation = 0;  // images in val
};

// Nothing where the folder has no such file; throws std::runtime_error where it is damaged.
std::optional<StandinRecord> read_standin_record(const std::filesystem::path& folder);
void write_standin_record(const std::filesystem::path& folder, const StandinRecord& record);

}  // namespace bench
