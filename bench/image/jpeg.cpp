// Decodes only the crop box: columns are cropped to MCUs, rows above are skipped, rows below are not decoded.
#include "bench/image/jpeg.h"

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

extern "C" {
#include <jerror.h>
#include <jpeglib.h>
}

#include "bench/image/resize.h"

namespace bench {
namespace {

// Multi-scan files: libjpeg holds all coefficients in memory. The limit allows 22 million pixels of 4:4:4 or
// 44 million of 4:2:0; the header of a tiny file can claim more.
constexpr int64_t kMostCoefficientBytes = int64_t{128} << 20;

// Each scan visits all blocks of the image (0.1 us each) even if it has no data. Encoders write about 10
// scans.
constexpr int64_t kLeastScans = 20, kMostScans = 100, kMostBlocksOfScans = 30'000'000;

}  // namespace

// libjpeg's error callback must not return: it longjmps back into the member function of State that called
// libjpeg. Those functions hold no object with a destructor, and only C frames are in between.
struct JpegReader::State {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX] = "";
  bool end_of_input = false;  // libjpeg asked for bytes after the last one
  bool has_end_marker = false;
  int64_t most_scans = kMostScans;
  int left = 0, width = 0;  // crop box within the decoded columns
  std::vector<uint8_t> row_memory;
  // libjpeg-turbo writes rows aligned to 16 or 32 bytes with non-temporal stores (jdcolext-avx2.asm); reading
  // them back right afterwards would take a third of the time per image. Hence the unaligned row.
  uint8_t* row() { return row_memory.data() + 4; }

  State() {
    jpeg.err = jpeg_std_error(&errors);
    jpeg.client_data = this;
    errors.error_exit = [](j_common_ptr common) {
      State& state = *static_cast<State*>(common->client_data);
      common->err->format_message(common, state.message);
      std::longjmp(state.jump, 1);
    };
    errors.emit_message = [](j_common_ptr common, int level) {
      if (level >= 0) return;  // trace messages
      State& state = *static_cast<State*>(common->client_data);
      switch (common->err->msg_code) {
        case JWRN_HIT_MARKER:
        case JWRN_HUFF_BAD_CODE:  // stop now: the library would fill the rest with grey
          state.leave("its data ends early or is damaged");
        case JWRN_JPEG_EOF:
          state.end_of_input = true;
          break;
        default:
          break;  // e.g. extra bytes before a marker: harmless and common
      }
    };
    jpeg_create_decompress(&jpeg);
    progress.progress_monitor = [](j_common_ptr common) {
      State& state = *static_cast<State*>(common->client_data);
      if (state.jpeg.input_scan_number > state.most_scans)
        state.leave("it has more scans than encoders write");
    };
    jpeg.progress = &progress;
  }
  ~State() { jpeg_destroy_decompress(&jpeg); }

  [[noreturn]] void leave(const char* text) {  // only from libjpeg callbacks
    std::strncpy(message, text, sizeof message - 1);
    std::longjmp(jump, 1);
  }

  bool read_header(const uint8_t* bytes, size_t size) {
    if (setjmp(jump)) return false;
    jpeg_abort_decompress(&jpeg);
    jpeg_mem_src(&jpeg, bytes, size);
    jpeg_read_header(&jpeg, TRUE);
    return true;
  }

  bool start_decompress() {
    if (setjmp(jump)) return false;
    // Pillow's choices; both are also the library's defaults.
    jpeg.dct_method = JDCT_ISLOW;
    jpeg.do_fancy_upsampling = TRUE;
    const bool four = jpeg.jpeg_color_space == JCS_CMYK || jpeg.jpeg_color_space == JCS_YCCK;
    jpeg.out_color_space = four ? JCS_CMYK : JCS_EXT_RGBX;
    jpeg_start_decompress(&jpeg);
    return true;
  }

  bool seek(const CropBox& box) {
    if (setjmp(jump)) return false;
    left = box.left;
    width = box.width;
    if (box.width < static_cast<int>(jpeg.output_width)) {
      // One more pixel on each side, because fancy upsampling of chroma uses the neighbours.
      const int from = box.left > 0 ? box.left - 1 : 0;
      const int to = std::min(box.left + box.width + 1, static_cast<int>(jpeg.output_width));
      JDIMENSION aligned = static_cast<JDIMENSION>(from), columns = static_cast<JDIMENSION>(to - from);
      jpeg_crop_scanline(&jpeg, &aligned, &columns);  // rounds `aligned` down to an MCU boundary
      left = box.left - static_cast<int>(aligned);
    }
    if (box.top > 0) jpeg_skip_scanlines(&jpeg, static_cast<JDIMENSION>(box.top));
    return true;
  }

  bool read_row(uint8_t* out) {
    if (setjmp(jump)) return false;
    return jpeg_read_scanlines(&jpeg, &out, 1) == 1;
  }

  // Decodes the rows below the box. Reads the last row instead of skipping it, because jpeg_skip_scanlines()
  // doesn't decode when it skips all remaining rows.
  bool read_to_end(uint8_t* last_row) {
    if (setjmp(jump)) return false;
    const JDIMENSION left_over = jpeg.output_height - jpeg.output_scanline;
    if (has_end_marker || left_over == 0) return true;
    if (left_over > 1) jpeg_skip_scanlines(&jpeg, left_over - 1);
    jpeg_read_scanlines(&jpeg, &last_row, 1);
    return true;
  }

  [[noreturn]] void fail(const char* text) {
    jpeg_abort_decompress(&jpeg);  // never calls error_exit
    throw BadImage(std::string("JPEG: ") + text);
  }
};

namespace {

// Whether there is an end-of-image marker after the header of the first scan. Entropy-coded data can't
// contain one, a thumbnail's marker comes earlier, and any bytes may follow it.
bool ends_properly(const uint8_t* scan, const uint8_t* end) {
  for (const uint8_t* at = end - 2; at >= scan; --at)
    if (at[0] == 0xFF && at[1] == JPEG_EOI) return true;
  return false;
}

int64_t blocks_of(const jpeg_decompress_struct& jpeg) {
  int64_t blocks = 0;
  for (int c = 0; c < jpeg.num_components; ++c)
    blocks += static_cast<int64_t>(jpeg.comp_info[c].width_in_blocks) * jpeg.comp_info[c].height_in_blocks;
  return blocks;
}

// Zeros at the end: an interrupted copy into preallocated space. They would decode as grey.
bool ends_in_zeros(const uint8_t* scan, const uint8_t* end) {
  constexpr int kMany = 8;
  return end - scan >= kMany && std::all_of(end - kMany, end, [](uint8_t byte) { return byte == 0; });
}

// Pillow's "CMYK;I" followed by its cmyk2rgb: values are inverted, as Adobe writes them.
void inverted_cmyk_to_rgbx(uint8_t* pixel, int count) {
  for (int i = 0; i < count; ++i, pixel += 4) {
    const int black = pixel[3];
    for (int c = 0; c < 3; ++c) {
      const int product = (255 - pixel[c]) * black + 128;
      pixel[c] = static_cast<uint8_t>(std::max(0, black - (((product >> 8) + product) >> 8)));
    }
  }
}

}  // namespace

JpegReader::JpegReader() : state_(std::make_unique<State>()) {}
JpegReader::~JpegReader() = default;

ImageSize JpegReader::open(std::span<const uint8_t> encoded) {
  State& state = *state_;
  state.end_of_input = false;
  if (!state.read_header(encoded.data(), encoded.size())) state.fail(state.message);
  const jpeg_decompress_struct& jpeg = state.jpeg;
  if (static_cast<int64_t>(jpeg.image_width) * jpeg.image_height > kMostPixels)
    state.fail("its header claims more pixels than the limit of 178956970");
  if (jpeg.arith_code) state.fail("it is arithmetic-coded: missing data can't be detected in such files");
  const int64_t blocks = blocks_of(jpeg);
  if (jpeg_has_multiple_scans(&state.jpeg) &&
      blocks > kMostCoefficientBytes / static_cast<int64_t>(sizeof(JBLOCK)))
    state.fail("it has several scans, and their coefficients need more than 128 MiB");
  state.most_scans = std::clamp(kMostBlocksOfScans / blocks, kLeastScans, kMostScans);
  const uint8_t *scan = jpeg.src->next_input_byte, *end = encoded.data() + encoded.size();
  state.has_end_marker = ends_properly(scan, end);
  if (!state.has_end_marker && ends_in_zeros(scan, end))
    state.fail("its end is missing (the file ends in zeros)");
  return {static_cast<int>(jpeg.image_width), static_cast<int>(jpeg.image_height)};
}

bool JpegReader::is_usual() const {
  const J_COLOR_SPACE colours = state_->jpeg.jpeg_color_space;
  return state_->has_end_marker && (colours == JCS_GRAYSCALE || colours == JCS_YCbCr);
}

void JpegReader::start(const CropBox& box) {
  State& state = *state_;
  if (!state.start_decompress() || !state.seek(box)) state.fail(state.message);
  const size_t bytes = 4 + static_cast<size_t>(state.jpeg.output_width) * 4 + Resizer::kRowPadding;
  if (state.row_memory.size() < bytes) state.row_memory.resize(bytes);
}

const uint8_t* JpegReader::next_row() {
  State& state = *state_;
  if (!state.read_row(state.row())) state.fail(state.message);
  uint8_t* first = state.row() + 4 * state.left;
  if (state.jpeg.out_color_space == JCS_CMYK) inverted_cmyk_to_rgbx(first, state.width);
  return first;
}

void JpegReader::finish() {
  State& state = *state_;
  if (!state.read_to_end(state.row())) state.fail(state.message);
  const bool cut_between_scans = state.end_of_input && jpeg_has_multiple_scans(&state.jpeg);
  if (cut_between_scans) state.fail("its data ends early or is damaged");
  jpeg_abort_decompress(&state.jpeg);
}

}  // namespace bench
