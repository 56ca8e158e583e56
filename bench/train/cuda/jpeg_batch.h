// Decodes the JPEG files of a batch with one call of nvJPEG (`decoder: nvjpeg_batched`): on the GPU's JPEG
// engine where there is one (NVJPEG_BACKEND_HARDWARE: A100, H100 and their relatives), otherwise with its
// ordinary processors. One kernel then crops and resizes all of them.
#pragma once
#ifdef HAVE_NVJPEG
#include "bench/loading/loader/device_decoding.h"
#include "bench/train/cuda/nvjpeg_handles.h"

namespace bench {

// What the batch decoders of a loader share.
class BatchLibrary {
 public:
  BatchLibrary(int gpu, std::shared_ptr<DecodedCounts> counts);  // CUDA device number
  const int gpu;
  bool on_engine() const { return on_engine_; }
  nvjpegHandle_t handle() const { return handle_.get(); }
  void count_batch(size_t images) { (on_engine_ ? counts_->jpeg_engine : counts_->cuda) += int64_t(images); }

 private:
  const std::shared_ptr<DecodedCounts> counts_;
  bool on_engine_ = false;
  Handle handle_;
};

// `alone` decodes images that nvJPEG refuses to decode in a batch (progressive files, PNG, ...), one by one.
std::unique_ptr<BatchDecoder> make_batch_decoder(std::shared_ptr<BatchLibrary> library,
                                                 std::unique_ptr<Decoder> alone, const BatchShape& shape);

}  // namespace bench
#endif
