// The list of a data set's images that every storage and every packing works from; no image is opened to use
// it.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace bench {

inline constexpr int64_t kMostImageBytes = int64_t{128} << 20;  // a larger file is a mistake, and not read

struct ImageEntry {
  std::string path;   // relative to the data set's root, e.g. train/n00000007/n00000007_42.JPEG, or below val
  int64_t label = 0;  // position of the class folder in sorted order
  int64_t bytes = 0;  // size of the encoded file
};

struct Dataset {
  std::filesystem::path root;        // folder that holds train/<wnid>/<wnid>_<n>.JPEG
  std::vector<ImageEntry> images;    // by class folder, then file name: the key order of every packed storage
  std::vector<std::string> classes;  // class folders in sorted order
  std::string fingerprint;           // 16 hex digits over paths, sizes and the content of a sample of files
  std::string kind = "folder";       // or "stand-in"
  int64_t seed = 0;                  // of a stand-in
  // Named like images, but pipes, links to nowhere, macOS's own files (._*), or with a line break in the
  // path.
  int64_t skipped = 0;
  // Images in formats that this suite doesn't decode, by lower-case ending; empty unless they may be left
  // out.
  std::map<std::string, int64_t> left_out;
  // Where the list differs from that of torchvision's ImageFolder, in words; not kept in the index file.
  std::vector<std::string> notes;
  int64_t total_bytes() const;
};

// An index file: first line a JSON header, then one `label<TAB>bytes<TAB>path` line per image.
void write_index(const Dataset& dataset, const std::filesystem::path& file);
// Throws std::runtime_error with file:line and the next step if it is missing or not an index.
Dataset read_index(const std::filesystem::path& file);

}  // namespace bench
