// The checks that a row must pass before its time counts.
#pragma once
#include <string>

#include "bench/train/slice.h"
#include "harness/contract/record_parts.h"

namespace bench {

using Check = harness::RecordCheck;

// The strategy's gradients of a small made-up batch against those of one device on the whole of it, batch
// norm frozen (its batch statistics differ between shares by design) unless it is synchronised; then the
// running statistics are compared too. Untimed, before the slice; leaves gradients and buffers as they were.
// Every rank calls it and gets its own verdict. Relative error of the whole gradient vector: 1e-4 in float32,
// 5e-2 with 16-bit types.
Check check_gradients(const SliceParts& parts, const RankInfo& rank);

// Loss finite in every batch.
Check check_loss(const std::vector<double>& loss);

// At most 1 % of the images were left to the CPU by the device that decodes: the row's time is the device's.
Check check_decoder(int64_t left_to_cpu, int64_t images);

// Fingerprint of the weights, to be equal on every rank after the slice.
std::string weights_fingerprint(const ResNet& model);

}  // namespace bench
