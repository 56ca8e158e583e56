// The measured distribution of a data set, from file sizes and image headers alone.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "bench/formats/index.h"

namespace bench {

struct ImageHeader {
  enum class Format { unreadable, jpeg, png } format = Format::unreadable;
  int width = 0, height = 0, components = 0;
  int quality = 0;           // from the luma table, 0 where it is no scaled standard table
  bool half_chroma = false;  // 4:2:0
  bool full_chroma = false;  // 4:4:4
  bool progressive = false, restart_markers = false, adobe = false, exif = false;
};

// Decodes no pixel. A file that is neither JPEG nor PNG is `unreadable`, as is a missing one.
ImageHeader read_image_header(const std::filesystem::path& file);

// Headers of at most `most_headers` evenly spaced images are read; sizes are those of all.
std::string describe(const Dataset& dataset, int64_t most_headers = 20000);

}  // namespace bench
