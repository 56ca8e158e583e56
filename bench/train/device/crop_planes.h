// Resizes decoded pixels of a crop box into a batch with LibTorch operators; the same code on every device.
#pragma once
#include <ATen/ops/_upsample_bilinear2d_aa.h>
#include <ATen/ops/from_blob.h>

#include "bench/train/device/normalisation.h"

namespace bench {

// planes: 1 x 3 x height x width, uint8, may be a view. Resizes like Resizer (bilinear, antialiased, rounded
// to integers; not rounded between the passes, so values can differ by 1), flips, and writes
// bytes_per_image(format, side) bytes to `out` on the planes' device.
inline void write_crop(const at::Tensor& planes, bool flip, int64_t side, BatchFormat format,
                       const Normalisation& normalisation, void* out) {
  at::Tensor square =
      at::_upsample_bilinear2d_aa(planes.to(at::kFloat), {side, side}, /*align_corners=*/false).round_();
  if (flip) square = square.flip({3});
  if (format != BatchFormat::uint8) square.mul_(normalisation.scale).add_(normalisation.shift);
  const bool bytes = format == BatchFormat::uint8, last = format != BatchFormat::float32;
  at::for_blob(out, last ? at::IntArrayRef({side, side, 3}) : at::IntArrayRef({3, side, side}))
      .options(planes.options().dtype(bytes ? at::kByte : at::kFloat))
      .target_device(planes.device())
      .make_tensor()
      .copy_(last ? square[0].permute({1, 2, 0}) : square[0]);
}

}  // namespace bench
