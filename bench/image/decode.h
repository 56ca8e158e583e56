// The loader's hot path: encoded bytes + crop box + flip -> a place in the batch.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "bench/image/batch_format.h"
#include "bench/image/encoded_image.h"

namespace bench {

struct ImageSize {
  int width = 0, height = 0;
};

struct CropBox {
  int left = 0, top = 0, width = 0, height = 0;
};

struct Augmentation {
  CropBox box;
  bool flip = false;
};

// torchvision's RandomResizedCrop(scale 0.08-1, ratio 3/4-4/3, 10 tries, centre fallback) and
// RandomHorizontalFlip, with random numbers from Philox keyed by (seed, epoch, record): the same whatever
// thread or batch asks.
Augmentation draw_augmentation(ImageSize size, uint64_t seed, int64_t epoch, int64_t record);

// Larger images are refused before memory is set aside for them (Pillow's limit against decompression bombs).
inline constexpr int64_t kMostPixels = 178'956'970;

// An image that can't be decoded in full. Never leaves a half-written slot that counts.
struct BadImage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One per thread; keeps its buffers between images. Decodes JPEG (baseline, progressive, greyscale, CMYK) and
// PNG whatever the file is called. EXIF orientation is ignored, as Pillow and torchvision do by default.
// A device's decoder derives from it and leaves to it what the device can't do.
class Decoder {
 public:
  Decoder();
  virtual ~Decoder();
  // Header only. A crop of the same bytes right after it doesn't parse the header again: don't change them in
  // between.
  ImageSize size(const EncodedImage& image);
  // Decodes only the box, resizes it to side x side (bilinear, antialiased, 8-bit like Pillow), flips, and
  // writes bytes_per_image(format, side) bytes.
  virtual void crop(const EncodedImage& image, const Augmentation& augmentation, int side, BatchFormat format,
                    void* out);
  // The whole image in another size, with the same pixels otherwise: to.width x to.height x 3 bytes.
  void resize(const EncodedImage& image, ImageSize to, uint8_t* hwc);

  ImageSize size(std::span<const uint8_t> encoded) { return size(EncodedImage{encoded}); }
  void crop_to_uint8(std::span<const uint8_t> encoded, const Augmentation& augmentation, int side,
                     uint8_t* hwc) {
    crop({encoded}, augmentation, side, BatchFormat::uint8, hwc);
  }
  void crop_to_float(std::span<const uint8_t> encoded, const Augmentation& augmentation, int side,
                     float* chw) {
    crop({encoded}, augmentation, side, BatchFormat::float32, chw);
  }

 protected:
  // The size of a JPEG file that other decoders than libjpeg may be trusted with: one colour or YCbCr, and an
  // end marker behind its data. Empty for all others. Throws what crop() would throw of header and box.
  std::optional<ImageSize> size_if_usual(const EncodedImage& image, const CropBox& box);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bench
