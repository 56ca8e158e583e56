// Compares gradients with those of one device on the whole batch; checks the loss and the decoder.
#include "bench/train/checks.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <c10/util/ScopeExit.h>
#include <fmt/format.h>
#include <xxhash.h>

#include <cmath>

namespace bench {

static double relative_error(const std::vector<at::Tensor>& found, const std::vector<at::Tensor>& expected) {
  double difference = 0, length = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    const at::Tensor reference = expected[i].to(at::kDouble);
    difference += found[i].to(reference.device(), at::kDouble).sub(reference).square().sum().item<double>();
    length += reference.square().sum().item<double>();
  }
  return std::sqrt(difference / length);
}

// 16-bit gradients of an unscaled loss would vanish; of one times the first loss scale, 65536, they may be
// infinite, which a training step finds and skips but a comparison can't.
static at::Tensor scaled(const at::Tensor& loss, const Precision& precision) {
  constexpr double kScale = 128;
  return precision.sixteen_bit().empty() ? loss : loss.mul(kScale);
}

// Gives parameters that are zero everywhere small values, and returns them. A transformer's classifier starts
// at zero, and then so are the gradients of all layers before it, in a wrong strategy too.
static std::vector<at::Tensor> without_zeros(const std::vector<at::Tensor>& parameters,
                                             at::Generator& generator) {
  at::NoGradGuard no_grad;
  std::vector<at::Tensor> zeros;
  for (const at::Tensor& parameter : parameters) {
    if (parameter.any().item<bool>()) continue;
    zeros.push_back(parameter);
    parameter.copy_(at::randn(parameter.sizes(), generator).mul_(0.05));
  }
  return zeros;
}

Check check_gradients(const SliceParts& parts, const RankInfo& rank) {
  const harness::Row& row = parts.row;
  if (harness::all_devices(row) == 1) return {"gradients", true, "one device: nothing to compare"};

  // No TF32: cuDNN may use different algorithms for a share and for the whole batch, and with TF32 their
  // rounding differs by more than the limit. Nor are algorithms tried for the check's few images, whose sizes
  // the slice never has.
  at::Context& convolutions = at::globalContext();
  const auto as_before = c10::make_scope_exit(
      [&, tf32 = convolutions.allowTF32CuDNN(), benchmark = convolutions.benchmarkCuDNN()] {
        convolutions.setAllowTF32CuDNN(tf32);
        convolutions.setBenchmarkCuDNN(benchmark);
      });
  convolutions.setAllowTF32CuDNN(false);
  convolutions.setBenchmarkCuDNN(false);
  // Two images per device; one less in single-process strategies, to test an uneven split.
  const int64_t images = 2 * harness::all_devices(row) - (rank.world_size == 1 ? 1 : 0);
  // The same batch on every rank.
  at::Generator generator = at::detail::createCPUGenerator(uint64_t(row.seed) + 17);
  const at::Device device = parts.device.torch_device();
  const at::Tensor batch = at::randn({images, 3, row.image_px, row.image_px}, generator).to(device);
  const at::Tensor labels = at::randint(row.classes, {images}, generator, at::kLong).to(device);
  const std::vector<at::Tensor> zeros = without_zeros(parts.model.parameter_tensors(), generator);

  const auto made = make_model(row);
  Model& reference = *made;
  reference.to(device, row.channels_last);
  parts.precision.convert(reference);
  reference.copy_values_of(parts.model);
  std::vector<at::Tensor> buffers_before;
  for (const at::Tensor& buffer : parts.model.buffer_tensors()) buffers_before.push_back(buffer.clone());
  reference.use_batch_statistics(row.sync_bn);
  const at::Tensor whole = at::cross_entropy_loss(parts.precision.forward(reference, batch), labels);
  scaled(whole, parts.precision).backward();

  PhaseClock unused(1, false);
  const int64_t share = images / rank.world_size;
  const auto mine = [&](const at::Tensor& tensor) { return tensor.narrow(0, rank.rank * share, share); };
  parts.strategy.use_batch_statistics(row.sync_bn);
  const at::Tensor logits = parts.strategy.forward(mine(batch), unused);
  parts.strategy.backward(scaled(at::cross_entropy_loss(logits, mine(labels)), parts.precision), unused);
  parts.strategy.use_batch_statistics(true);

  double error = relative_error(parts.model.gradient_tensors(), reference.gradient_tensors());
  if (row.sync_bn) {
    const double of_buffers = relative_error(parts.model.buffer_tensors(), reference.buffer_tensors());
    if (std::isnan(of_buffers) || of_buffers > error) error = of_buffers;
  }
  {
    at::NoGradGuard no_grad;
    for (size_t i = 0; i < buffers_before.size(); ++i)
      parts.model.buffers()[i].tensor.copy_(buffers_before[i]);
    for (const at::Tensor& parameter : zeros) parameter.zero_();
  }
  // On a GPU, batch norms of the whole batch and of a share round differently, so that some values near 0 are
  // clipped on one side alone; a sum or bucket that is missing differs by far more.
  const double limit = !parts.precision.sixteen_bit().empty() ? 5e-2 : device.is_cuda() ? 2e-2 : 1e-4;
  parts.model.clear_gradients();
  return {
      "gradients", error < limit,
      fmt::format("relative error {:.2g} against one device on the whole batch (limit {:g})", error, limit)};
}

Check check_loss(const std::vector<double>& loss, int64_t warmup) {
  for (int64_t batch = 0; batch < int64_t(loss.size()); ++batch)
    if (!std::isfinite(loss[size_t(batch)]))
      return {"loss", false,
              batch < warmup ? fmt::format("not finite in warm-up batch {}", batch)
                             : fmt::format("not finite in timed batch {}", batch - warmup)};
  return {"loss", true, "finite"};
}

Check check_decoder(const harness::RecordDecoded& decoded, bool on_engine) {
  constexpr double kMostOnCpu = 0.01, kLeastOnEngine = 0.9;
  const auto all = double(decoded.all());
  const bool cpu = double(decoded.cpu) > kMostOnCpu * all,
             others = on_engine && double(decoded.jpeg_engine) < kLeastOnEngine * all;
  const char* const why = cpu      ? ": over 1 % by the CPU; decoder: cpu measures it"
                          : others ? ": under 90 % by the engine that the row asks for; use decoder: nvjpeg"
                                   : "";
  return {"decoder", !cpu && !others,
          fmt::format("of {} images, the JPEG engine decoded {}, the GPU's multiprocessors {}, the CPU {}{}",
                      decoded.all(), decoded.jpeg_engine, decoded.cuda, decoded.cpu, why)};
}

Check check_pixels(const harness::RecordExternal& external) {
  constexpr double kMostOfMean = 0.5, kMostOfImage = 4;
  const double mean = external.mean_difference.value_or(256),
               image = external.greatest_difference.value_or(256);
  const bool ok = mean <= kMostOfMean && image <= kMostOfImage;
  return {
      "pixels", ok,
      fmt::format(
          "{} images{} differ from this suite's by {:.2f} of 255, one by {:.2f} (limits {:g} and {:g}){}",
          external.compared, external.misplaced > 0 ? ", in the loader's own order," : "", mean, image,
          kMostOfMean, kMostOfImage,
          ok ? ""
             : ": it does other work, or labels are wrong; compare_pixels: false measures it all the same")};
}

std::string weights_fingerprint(const Model& model) {
  XXH64_hash_t hash = 0;
  for (const NamedTensor& parameter : model.parameters()) {
    const at::Tensor tensor = parameter.tensor.detach().cpu().contiguous();
    hash = XXH3_64bits_withSeed(tensor.data_ptr(), tensor.nbytes(), hash);
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace bench
