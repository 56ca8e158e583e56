// Which files of a class folder are its images, as torchvision's ImageFolder finds them.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace bench {

struct ImageFile {
  std::string path;  // relative to the data set's root
  int64_t bytes = 0;
};

// What ImageFolder would list, or try to, and this suite doesn't.
struct LeftOut {
  std::map<std::string, int64_t> kinds;  // that can't be decoded here: lower-case ending -> number of files
  std::string example;                   // one of them
  int64_t skipped = 0;  // named like images, but no files, macOS's own (._*) or with a line break in the path
  std::vector<std::string> cycles;  // links to a folder above themselves

  int64_t undecodable() const;
  std::string kinds_in_words() const;  // "12 .bmp, 5 .webp (e.g. train/n00/a.webp)"
};

// All images below root/folder, in ImageFolder's order: folder by folder, the path of a folder and then the
// name of a file deciding. Links are followed; a link to a folder above itself is walked once. Throws
// std::filesystem::filesystem_error for a folder that can't be read.
std::vector<ImageFile> images_below(const std::filesystem::path& root, const std::string& folder,
                                    LeftOut& left_out);

}  // namespace bench
