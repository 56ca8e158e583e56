// Small JPEG images made in memory, and data sets of them in a temporary folder, for the tests of loading.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

extern "C" {
#include <jpeglib.h>
}

#include "bench/formats/index.h"
#include "tests/support/temporary_folder.h"

namespace bench {

using Bytes = std::vector<uint8_t>;

struct JpegKind {
  int chroma = 1;  // pixels per chroma sample in both directions: 1 is 4:4:4, 2 is 4:2:0
  int quality = 90;
  bool progressive = false;
  int restart_rows = 0;
  bool ycck = false;  // four channels
  bool grey = false;
  bool flat = false;    // one colour: the smallest file of its size
  int chroma_rows = 0;  // rows per chroma sample where they differ from `chroma`, e.g. 1 with chroma 2: 4:2:2
};

inline Bytes small_jpeg(int width, int height, uint32_t seed, const JpegKind& kind = {}) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &memory, &size);
  jpeg.image_width = static_cast<JDIMENSION>(width);
  jpeg.image_height = static_cast<JDIMENSION>(height);
  jpeg.input_components = kind.ycck ? 4 : kind.grey ? 1 : 3;
  jpeg.in_color_space = kind.ycck ? JCS_CMYK : kind.grey ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&jpeg);
  if (kind.ycck) jpeg_set_colorspace(&jpeg, JCS_YCCK);
  jpeg_set_quality(&jpeg, kind.quality, TRUE);
  jpeg.comp_info[0].h_samp_factor = kind.chroma;
  jpeg.comp_info[0].v_samp_factor = kind.chroma_rows > 0 ? kind.chroma_rows : kind.chroma;
  if (kind.progressive) jpeg_simple_progression(&jpeg);
  jpeg.restart_in_rows = kind.restart_rows;
  jpeg_start_compress(&jpeg, TRUE);
  Bytes row(static_cast<size_t>(width) * static_cast<size_t>(jpeg.input_components));
  uint32_t random = seed * 2654435761u + 1;
  for (int y = 0; y < height; ++y) {
    for (size_t i = 0; i < row.size() && !kind.flat; ++i) {
      random = random * 1664525u + 1013904223u;
      row[i] = static_cast<uint8_t>(((static_cast<int>(i) * 3 + y * 5 + static_cast<int>(seed)) & 127) +
                                    (random >> 25));
    }
    JSAMPROW pointer = row.data();
    jpeg_write_scanlines(&jpeg, &pointer, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  Bytes bytes(memory, memory + size);
  std::free(memory);
  return bytes;
}

inline void write_bytes(const std::filesystem::path& file, const Bytes& bytes) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

inline Bytes read_bytes(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Two classes, images of various sizes; every file is good.
inline Dataset small_dataset(const std::filesystem::path& root, int images) {
  Dataset dataset;
  dataset.root = root;
  dataset.classes = {"n00000000", "n00000001"};
  for (int i = 0; i < images; ++i) {
    const int label = i * 2 / images;
    const std::string name = dataset.classes[static_cast<size_t>(label)];
    char path[64];
    std::snprintf(path, sizeof path, "train/%s/%s_%05d.JPEG", name.c_str(), name.c_str(), i);
    const Bytes bytes =
        small_jpeg(40 + i % 7 * 5, 36 + i % 5 * 6, static_cast<uint32_t>(i), {.chroma = 1 + i % 2});
    write_bytes(root / path, bytes);
    dataset.images.push_back({path, label, static_cast<int64_t>(bytes.size())});
  }
  return dataset;
}

}  // namespace bench
