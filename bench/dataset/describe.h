// The measured distribution of a data set, from file sizes and image headers only; no pixel is decoded.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "bench/formats/index.h"

namespace bench {

struct ImageHeader {
  enum class Format { unreadable, jpeg, png } format = Format::unreadable;
  int width = 0, height = 0, components = 0;
  int quality = 0;           // from the luma quantisation table; 0 if that is not a scaled standard table
  bool half_chroma = false;  // 4:2:0
  bool full_chroma = false;  // 4:4:4
  bool progressive = false, restart_markers = false, adobe = false, exif = false;
};

// `unreadable` if the file is missing or is neither JPEG nor PNG. Never throws for damaged files.
ImageHeader read_image_header(const std::filesystem::path& file);

// Reads the headers of at most `most_headers` evenly spaced images; file sizes cover all images.
std::string describe(const Dataset& dataset, int64_t most_headers = 20000);

}  // namespace bench
