// Detects the format and feeds the rows of the crop box to the resizer.
#include "bench/image/decode.h"

#include <utility>
#include <vector>

#include "bench/image/jpeg.h"
#include "bench/image/png.h"
#include "bench/image/resize.h"

namespace bench {

struct Decoder::State {
  JpegReader jpeg;
  Resizer resizer;
  std::vector<uint8_t> png_pixels;
  std::span<const uint8_t> opened;  // a JPEG of which only the header has been read
  ImageSize opened_size;

  ImageSize open(const EncodedImage& image) {
    opened = {};
    const std::span<const uint8_t> bytes = image.bytes;
    if (bytes.empty()) throw BadImage("the file is empty");
    if (image.raw_width > 0) {
      if (bytes.size() != size_t{3} * image.raw_width * image.raw_height)
        throw BadImage("the number of its bytes is not width x height x 3");
      return {image.raw_width, image.raw_height};
    }
    if (is_png(bytes)) return png_size(bytes);
    const ImageSize size = jpeg.open(bytes);
    opened = bytes;
    return opened_size = size;
  }

  ImageSize size(const EncodedImage& image) {
    const bool known =
        !opened.empty() && opened.data() == image.bytes.data() && opened.size() == image.bytes.size();
    return known ? opened_size : open(image);
  }

  ImageSize size_around(const CropBox& box, const EncodedImage& image) {
    const ImageSize size = this->size(image);
    if (box.left < 0 || box.top < 0 || box.width < 1 || box.height < 1 || box.width > size.width - box.left ||
        box.height > size.height - box.top)
      throw std::invalid_argument("the crop box is not within the image");
    return size;
  }

  void resize(const EncodedImage& image, const Augmentation& augmentation, ImageSize to) {
    const std::span<const uint8_t> bytes = image.bytes;
    const CropBox& box = augmentation.box;
    const ImageSize size = size_around(box, image);
    resizer.begin(box.width, box.height, to.width, to.height, augmentation.flip);
    const auto first = [&](int y) { return static_cast<size_t>(box.top + y) * size.width + box.left; };
    if (!opened.empty()) {
      opened = {};
      jpeg.start(box);
      for (int y = 0; y < box.height; ++y) resizer.add_row(jpeg.next_row());
      jpeg.finish();
    } else if (image.raw_width > 0) {
      for (int y = 0; y < box.height; ++y) resizer.add_rgb_row(bytes.data() + 3 * first(y));
    } else {
      decode_png(bytes, box, png_pixels, [this](const uint8_t* row) { resizer.add_row(row); });
    }
  }
};

Decoder::Decoder() : state_(std::make_unique<State>()) {}
Decoder::~Decoder() = default;

ImageSize Decoder::size(const EncodedImage& image) { return state_->open(image); }

std::optional<ImageSize> Decoder::size_if_usual(const EncodedImage& image, const CropBox& box) {
  const ImageSize size = state_->size_around(box, image);
  const bool jpeg = !std::exchange(state_->opened, {}).empty();
  return jpeg && state_->jpeg.is_usual() ? std::optional(size) : std::nullopt;
}

void Decoder::resize(const EncodedImage& image, ImageSize to, uint8_t* hwc) {
  const ImageSize whole = state_->size(image);
  state_->resize(image, {{0, 0, whole.width, whole.height}, false}, to);
  state_->resizer.to_uint8(hwc);
}

void Decoder::crop(const EncodedImage& image, const Augmentation& augmentation, int side, BatchFormat format,
                   void* out) {
  state_->resize(image, augmentation, {side, side});
  switch (format) {
    case BatchFormat::float32:
      return state_->resizer.to_float(static_cast<float*>(out));
    case BatchFormat::channels_last:
      return state_->resizer.to_float_last(static_cast<float*>(out));
    case BatchFormat::uint8:
      return state_->resizer.to_uint8(static_cast<uint8_t*>(out));
  }
}

}  // namespace bench
