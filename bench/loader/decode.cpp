// Encoded bytes to a square of the batch: picks the format, feeds rows of the box to the resizer.
#include "bench/loader/decode.h"

#include <vector>

#include "bench/loader/jpeg.h"
#include "bench/loader/png.h"
#include "bench/loader/resize.h"

namespace bench {

struct Decoder::State {
  JpegReader jpeg;
  Resizer resizer;
  std::vector<uint8_t> png_pixels;
  std::span<const uint8_t> opened;  // a JPEG whose header was read and whose pixels were not
  ImageSize opened_size;

  ImageSize open(std::span<const uint8_t> encoded) {
    opened = {};
    if (encoded.empty()) throw BadImage("the file is empty");
    if (is_png(encoded)) return png_size(encoded);
    const ImageSize size = jpeg.open(encoded);
    opened = encoded;
    return opened_size = size;
  }

  void resize(std::span<const uint8_t> encoded, const Augmentation& augmentation, int side) {
    const bool known = !opened.empty() && opened.data() == encoded.data() && opened.size() == encoded.size();
    const ImageSize size = known ? opened_size : open(encoded);
    const CropBox& box = augmentation.box;
    if (box.left < 0 || box.top < 0 || box.width < 1 || box.height < 1 || box.width > size.width - box.left ||
        box.height > size.height - box.top)
      throw std::invalid_argument("the crop box is not within the image");
    resizer.begin(box.width, box.height, side, augmentation.flip);
    if (opened.empty()) {
      decode_png(encoded, png_pixels);
      for (int y = 0; y < box.height; ++y)
        resizer.add_row(png_pixels.data() + 4 * (static_cast<size_t>(box.top + y) * size.width + box.left));
    } else {
      opened = {};
      jpeg.start(box);
      for (int y = 0; y < box.height; ++y) resizer.add_row(jpeg.next_row());
      jpeg.finish();
    }
  }
};

Decoder::Decoder() : state_(std::make_unique<State>()) {}
Decoder::~Decoder() = default;

ImageSize Decoder::size(std::span<const uint8_t> encoded) { return state_->open(encoded); }

void Decoder::crop_to_uint8(std::span<const uint8_t> encoded, const Augmentation& augmentation, int side,
                            uint8_t* hwc) {
  state_->resize(encoded, augmentation, side);
  state_->resizer.to_uint8(hwc);
}

void Decoder::crop_to_float(std::span<const uint8_t> encoded, const Augmentation& augmentation, int side,
                            float* chw) {
  state_->resize(encoded, augmentation, side);
  state_->resizer.to_float(chw);
}

}  // namespace bench
