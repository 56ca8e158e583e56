// Finds the image files of a class folder in the way of torchvision's ImageFolder, and those that it would
// miss.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "bench/formats/index.h"

namespace bench {

// Images that this suite leaves out.
struct LeftOut {
  std::map<std::string, int64_t> kinds;  // lower-case extension not decoded here -> number of files
  std::string example;                   // path of one such file
  int64_t skipped = 0;              // not regular files, macOS's metadata (._*), or a line break in the path
  std::vector<std::string> cycles;  // links to a parent folder

  int64_t undecodable() const;
  std::string kinds_in_words() const;  // "12 .bmp, 5 .webp (e.g. train/n00/a.webp)"
};

// Whether the name's ending is one of an image that this suite decodes.
bool is_decoded(const std::string& name);
std::string in_lower_case(std::string name);  // ASCII letters

// All images below root/folder, without labels, in ImageFolder's order: sorted by folder path, then by file
// name. Links are followed, except links to a parent folder, which would cycle. Throws
// std::filesystem::filesystem_error for a folder that can't be read.
std::vector<ImageEntry> images_below(const std::filesystem::path& root, const std::string& folder,
                                     LeftOut& left_out);

}  // namespace bench
