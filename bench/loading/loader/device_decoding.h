// Image decoding on a device (row field `decoder`: nvjpeg, nvjpeg_batched); the loader's threads only launch
// it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/image/decode.h"
#include "bench/loading/loader/batch_buffer.h"
#include "harness/contract/record_parts.h"

namespace bench {

// Decodes the images of a batch together. One per batch buffer.
class BatchDecoder {
 public:
  virtual ~BatchDecoder() = default;
  // Keeps the image for its place; its bytes may change afterwards. Called by several threads at a time, for
  // different places; `decoder`: the thread's, which has just read the image's header. Throws BadImage, as
  // Decoder::crop() for a bad header.
  virtual void add(int64_t place, const EncodedImage& image, const Augmentation& augmentation,
                   Decoder& decoder) = 0;
  struct Undecodable {
    int64_t place;
    std::string reason;
  };
  // Called when all places are added: writes their crops to `images` and forgets them. Returns when all is
  // written. The places that are returned are undefined.
  virtual std::vector<Undecodable> decode(uint8_t* images) = 0;
};

struct BatchShape {
  int64_t images = 0, side_px = 0;
  BatchFormat format = BatchFormat::float32;
};

// All members empty: decoding on the CPU.
struct DeviceDecoding {
  // Called once per loader thread. The decoder writes crops to memory from `allocate_images`; crop() returns
  // when the write is complete.
  std::function<std::unique_ptr<Decoder>()> make_decoder;
  // Where it isn't empty, batches are decoded together; decoders of make_decoder() only read headers, and
  // decode replacements of undecodable images.
  std::function<std::unique_ptr<BatchDecoder>(const BatchShape&)> make_batch_decoder = {};
  Allocator allocate_images;  // allocates device memory for whole batches
  // Copies from host memory to such memory; complete on return.
  std::function<void(void* to, const void* from, size_t bytes)> fill;
  std::function<harness::RecordDecoded()> decoded = {};  // images so far, of all threads
  bool on_engine = false;  // batches are meant for a JPEG engine, which this device has
};

}  // namespace bench
