// Reads the header of a JPEG or PNG file; safe for damaged and hostile files.
#include <unistd.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>

#include "bench/dataset/describe.h"
#include "harness/base/regular_file.h"

extern "C" {  // after <cstdio>, which it needs and does not include
#include <jpeglib.h>
}

namespace bench {
namespace {

struct Escape {
  jpeg_error_mgr errors;  // must be the first member: libjpeg passes a pointer to it
  jmp_buf target;
};

// Inverts libjpeg's quality scaling of the standard luma table (JPEG standard, annex K).
int quality_of(const JQUANT_TBL* table) {
  if (!table) return 0;
  constexpr int kFirst[] = {16, 11, 10, 16, 24, 40, 51, 61};  // row 0 in natural order
  double scale = 0;
  for (int i = 0; i < 8; ++i) scale += 100.0 * table->quantval[i] / kFirst[i];
  scale /= 8;
  if (scale <= 0) return 0;
  return static_cast<int>((scale <= 100 ? (200 - scale) / 2 : 5000 / scale) + 0.5);
}

// Must hold no object with a destructor: errors leave by longjmp.
void read_jpeg(FILE* file, ImageHeader* header) {
  jpeg_decompress_struct info;
  Escape escape;
  info.err = jpeg_std_error(&escape.errors);
  escape.errors.error_exit = [](j_common_ptr common) {
    longjmp(reinterpret_cast<Escape*>(common->err)->target, 1);
  };
  escape.errors.emit_message = [](j_common_ptr, int) {};
  if (setjmp(escape.target)) {
    jpeg_destroy_decompress(&info);
    return;
  }
  jpeg_create_decompress(&info);
  jpeg_stdio_src(&info, file);
  jpeg_save_markers(&info, JPEG_APP0 + 1, 16);
  jpeg_read_header(&info, TRUE);
  header->width = static_cast<int>(info.image_width);
  header->height = static_cast<int>(info.image_height);
  header->components = info.num_components;
  header->quality = quality_of(info.quant_tbl_ptrs[0]);
  header->progressive = info.progressive_mode;
  header->restart_markers = info.restart_interval > 0;
  header->adobe = info.saw_Adobe_marker;
  if (info.num_components >= 3) {
    const auto& y = info.comp_info[0];
    const auto& cb = info.comp_info[1];
    header->full_chroma = y.h_samp_factor == cb.h_samp_factor && y.v_samp_factor == cb.v_samp_factor;
    header->half_chroma = y.h_samp_factor == 2 * cb.h_samp_factor && y.v_samp_factor == 2 * cb.v_samp_factor;
  }
  for (auto* marker = info.marker_list; marker; marker = marker->next)
    if (marker->data_length >= 4 && !std::memcmp(marker->data, "Exif", 4)) header->exif = true;
  header->format = ImageHeader::Format::jpeg;
  jpeg_destroy_decompress(&info);
}

}  // namespace

ImageHeader read_image_header(const std::filesystem::path& path) {
  ImageHeader header;
  const base::RegularFile opened = base::RegularFile::open(path.c_str());
  FILE* file = opened.is_open() ? ::fdopen(::dup(opened.descriptor.number()), "rb") : nullptr;
  if (!file) return header;
  unsigned char start[26] = {};
  const size_t got = std::fread(start, 1, sizeof start, file);
  auto number = [&](int at) {
    return start[at] << 24 | start[at + 1] << 16 | start[at + 2] << 8 | start[at + 3];
  };
  if (got == sizeof start && !std::memcmp(start, "\x89PNG\r\n\x1a\n", 8)) {
    header.format = ImageHeader::Format::png;
    header.width = number(16);
    header.height = number(20);
    header.components = start[25] == 0 ? 1 : start[25] == 4 ? 2 : start[25] == 6 ? 4 : 3;
  } else if (got >= 2 && start[0] == 0xFF && start[1] == 0xD8) {
    std::rewind(file);
    read_jpeg(file, &header);
  }
  std::fclose(file);
  return header;
}

}  // namespace bench
