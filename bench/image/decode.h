// The loader's hot path: decodes, crops, resizes and flips one image into its place in the batch.
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
// RandomHorizontalFlip, with random numbers from Philox keyed by (seed, epoch, record), so independent of
// threads and batches.
Augmentation draw_augmentation(ImageSize size, uint64_t seed, int64_t epoch, int64_t record);

// Larger images are refused before memory is allocated (Pillow's limit against decompression bombs).
inline constexpr int64_t kMostPixels = 178'956'970;

// Thrown for an image that can't be decoded completely; the output memory is then undefined.
struct BadImage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One per thread; keeps its buffers between images. Decodes JPEG (baseline, progressive, greyscale, CMYK) and
// PNG, detected by content. Ignores EXIF orientation, as Pillow and torchvision do by default. A device's
// decoder derives from it and falls back to it for images that the device can't decode. All members throw
// BadImage for undecodable images.
class Decoder {
 public:
  Decoder();
  virtual ~Decoder();
  // Reads only the header. crop() of the same bytes right afterwards reuses the parsed header, so the bytes
  // must not change in between.
  ImageSize size(const EncodedImage& image);
  // Decodes only the box, resizes it to side x side (bilinear, antialiased, 8-bit like Pillow), flips, and
  // writes bytes_per_image(format, side) bytes. Throws std::invalid_argument if the box is not within the
  // image.
  virtual void crop(const EncodedImage& image, const Augmentation& augmentation, int side, BatchFormat format,
                    void* out);
  // Decodes and resizes the whole image; writes to.width x to.height x 3 bytes (uint8, HWC).
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

  // The size of an image that decoders other than libjpeg handle reliably: a greyscale or YCbCr JPEG with an
  // end-of-image marker after its data. Empty for all others. Throws as crop() for a bad header or box.
  std::optional<ImageSize> size_if_usual(const EncodedImage& image, const CropBox& box);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bench
