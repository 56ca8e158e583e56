// Converts the loader's uint8 pixels to the network's input on the GPU in one pass over memory. With LibTorch
// it would take four operations: permute, convert, multiply, add.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

namespace bench {

enum class ImageType { float32, float16, bfloat16 };

// pixels: images x side x side x 3, uint8. out: pixel * normalise_scale() + normalise_shift()
// (bench/image/batch_format.h) as images x 3 x side x side of `type`, in NCHW order or, with `channels_last`,
// NHWC. Both in device memory, aligned to 16 bytes. Asynchronous on `stream`; throws std::runtime_error if
// the launch fails.
void normalise(const uint8_t* pixels, void* out, ImageType type, bool channels_last, int64_t images,
               int64_t side, cudaStream_t stream);

}  // namespace bench
