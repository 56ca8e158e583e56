// The index: the list of a data set's images, used by every storage and packer without opening an image.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/contract/dataset.h"

namespace bench {

inline constexpr int64_t kMostImageBytes = int64_t{128} << 20;  // larger files are errors and not read

struct ImageEntry {
  std::string path;   // relative to the data set's root, e.g. train/n00000007/n00000007_42.JPEG, or below val
  int64_t label = 0;  // position of the class folder in sorted order
  int64_t bytes = 0;  // size of the encoded file
  // An image that lies uncompressed within a larger file: where it begins there, and how much of `path` names
  // that file; a slash and the image's name in it follow. -1: the image is a file of its own.
  int64_t offset = -1;
  size_t file_length = 0;
  std::string file() const { return offset < 0 ? path : path.substr(0, file_length); }
};

struct Dataset : harness::DatasetFacts {
  std::filesystem::path root;      // folder that holds train/<wnid>/<wnid>_<n>.JPEG
  std::vector<ImageEntry> images;  // by class folder, then file name: the key order of every packed storage
  // Differences from the list of torchvision's ImageFolder, as text; not stored in the index file.
  std::vector<std::string> notes;
  int64_t total_bytes() const;
  // The files that hold these records, each once, in the order in which they are first needed.
  std::vector<std::filesystem::path> files_of(const std::vector<int64_t>& records) const;
};

// An index file: first line a JSON header, then one `label<TAB>bytes<TAB>path` line per image; of images
// within larger files `label<TAB>bytes@offset/file_length<TAB>path`.
void write_index(const Dataset& dataset, const std::filesystem::path& file);
// The folder of the images that a file lists; empty if it is no index.
std::string root_of_index(const std::filesystem::path& file);
// Whether a file in a data set's folder is one, or its draft, by its name.
inline bool is_list(const std::string& name) {
  return name.starts_with("index.") || name.starts_with("index-") || name.starts_with("validation-");
}
// Throws std::runtime_error with file:line and the next step if it is missing or not an index.
Dataset read_index(const std::filesystem::path& file);

}  // namespace bench
