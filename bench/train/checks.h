// Checks that a row must pass for its times to be valid.
#pragma once
#include <string>

#include "bench/train/slice.h"
#include "harness/contract/record_parts.h"

namespace bench {

using Check = harness::RecordCheck;

// Compares the strategy's gradients of a small random batch with those of one device on the whole batch.
// Batch norm uses running statistics (batch statistics differ between shares by design) unless it is
// synchronised; then the running statistics are compared too. Limit of the relative error (L2 norm of the
// whole gradient vector): 1e-4 in float32, 5e-2 with 16-bit types. Untimed, before the slice; clears the
// gradients and restores the buffers. Collective; each rank gets its own result.
Check check_gradients(const SliceParts& parts, const RankInfo& rank);

// Whether the loss is finite in every batch; `warmup` of them come before the timed ones.
Check check_loss(const std::vector<double>& loss, int64_t warmup);

// Whether the CPU decoded at most 1 % of the timed batches' images of a row that decodes on the device, and,
// with `on_engine`, the JPEG engine at least 90 %: the rest may be progressive files, which it can't decode.
Check check_decoder(const harness::RecordDecoded& decoded, bool on_engine);

// Whether an external loader makes the pixels that this suite makes of the same crops: the mean differs by at
// most half a level of 255, as between decoders and filters of the same kind, and that of no image by more
// than four.
Check check_pixels(const harness::RecordExternal& external);

// XXH3 hash of the weights (16 hex digits), which must be equal on every rank after the slice.
std::string weights_fingerprint(const Model& model);

}  // namespace bench
