// Decodes the JPEG files of a batch with one call of nvJPEG (`decoder: nvjpeg_batched`): on the GPU's JPEG
// engine where there is one (NVJPEG_BACKEND_HARDWARE: A100, H100 and their relatives), otherwise with its
// ordinary processors. One kernel then crops and resizes all of them.
#pragma once
#ifdef HAVE_NVJPEG
#include <atomic>

#include "bench/loading/loader/device_decoding.h"
#include "bench/train/cuda/nvjpeg_handles.h"

namespace bench {

// What the batch decoders of a loader share.
class BatchLibrary {
 public:
  explicit BatchLibrary(int gpu);  // CUDA device number
  const int gpu;
  std::atomic<int64_t> decoded{0};  // images that were decoded in batches
  bool on_engine() const { return on_engine_; }
  nvjpegHandle_t handle() const { return handle_.get(); }

 private:
  bool on_engine_ = false;
  Handle handle_;
};

// `alone` decodes images that nvJPEG refuses to decode in a batch (progressive files, PNG, ...), one by one.
std::unique_ptr<BatchDecoder> make_batch_decoder(std::shared_ptr<BatchLibrary> library,
                                                 std::unique_ptr<Decoder> alone, const BatchShape& shape);

}  // namespace bench
#endif
