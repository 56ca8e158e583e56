// Decodes JPEG files with nvJPEG, launched by the loader's threads (`decoder: nvjpeg`, `nvjpeg_batched`).
//
// Each thread enqueues its image on its own stream and sleeps until the crop is in the batch in GPU memory.
// So the span `decode` includes waiting for the GPU, which is shared with training and other threads, and
// phase h2d is a copy within the GPU (except labels).
//
// Images that the GPU refuses (PNG, CMYK, truncated files, nvJPEG errors) are decoded by the CPU's decoder in
// the same thread, so that messages for damaged files are the same. Damage that nvJPEG doesn't detect goes
// unnoticed.
#pragma once
#include <string>

#include "bench/loading/loader/device_decoding.h"

namespace bench {

// gpu: CUDA device number. Results of separate calls are independent. Throws std::logic_error without nvJPEG.
DeviceDecoding decode_with_nvjpeg(int gpu);

// The same with one call per batch (jpeg_batch.h): the loader's threads read and keep the files, and the
// thread of the batch's last image decodes them all.
DeviceDecoding decode_batches_with_nvjpeg(int gpu);

bool has_nvjpeg();  // whether this build has nvJPEG, required by the others
std::string nvjpeg_version();

}  // namespace bench
