// From the loader's uint8 pixels to what the network takes, on the device, in one pass over memory. LibTorch
// has no one call for it: permute, convert, multiply and add are four passes.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

namespace bench {

enum class ImageType { float32, float16, bfloat16 };

// pixels: images x side x side x 3, 0 to 255. out: the same values as normalise_scale() and normalise_shift()
// (bench/image/batch_format.h) make of them, images x 3 x side x side, in that order in memory or, with
// `channels_last`, in the order of `pixels`. Both are device memory aligned to 16 bytes. Returns when the
// kernel is launched on `stream`; throws std::runtime_error when it can't be.
void normalise(const uint8_t* pixels, void* out, ImageType type, bool channels_last, int64_t images,
               int64_t side, cudaStream_t stream);

}  // namespace bench
