// The loader of the synthetic storage: no threads and no reading. It fills ring_depth batches with a fixed
// random pattern, and next() only returns pointers to them.
#include <vector>

#include "bench/image/philox.h"
#include "bench/loading/loader/loader.h"

namespace bench {
namespace {

class FixedBatches : public Loader {
 public:
  explicit FixedBatches(const LoaderOptions& options) : options_(options) {
    const int64_t image_bytes = bytes_per_image(options.format, options.image_px);
    const DeviceDecoding& device = options.decoding;
    for (int number = 0; number < options.ring_depth; ++number) {
      BatchBuffer& slot =
          slots_.emplace_back(options.batch_size, image_bytes, options.allocate, device.allocate_images);
      // Each rank has its own, as of a data set: of equal batches, ranks that reduce nothing would keep equal
      // weights.
      const auto own = static_cast<uint32_t>(number * options.sampler.world_size + options.sampler.rank);
      fill_labels(slot, own);
      if (!device.allocate_images) {
        fill_images(slot.images(), own);
        continue;
      }
      BatchBuffer images(options.batch_size, image_bytes);
      fill_images(images.images(), own);
      device.fill(slot.images(), images.images(), static_cast<size_t>(options.batch_size * image_bytes));
    }
  }

  void start() override {}

  Batch next() override {
    BatchBuffer& slot = slots_[static_cast<size_t>(number_ % options_.ring_depth)];
    Batch batch;
    batch.images = slot.images();
    batch.labels = slot.labels();
    batch.size = options_.batch_size;
    batch.number = number_++;
    return batch;
  }

  void release(const Batch&) override {}
  int ready_batches() const override { return options_.ring_depth; }

  LoaderStats stats() const override {
    LoaderStats stats;
    stats.images = number_ * options_.batch_size;
    return stats;
  }

 private:
  void fill_images(uint8_t* bytes, uint32_t number) const {
    const int64_t values = options_.batch_size * 3 * options_.image_px * options_.image_px;
    // Floats: uniform with mean 0 and standard deviation 1, as in normalised images. uint8: uniform 0 to 255.
    constexpr float kWidth = 3.4641016f;  // sqrt(12)
    const bool pixels = options_.format == BatchFormat::uint8;
    auto* floats = reinterpret_cast<float*>(bytes);
    for (int64_t i = 0; i < values; i += 4) {
      const PhiloxBlock random = philox({static_cast<uint32_t>(i), static_cast<uint32_t>(i >> 32), number, 1},
                                        options_.sampler.seed);
      for (int64_t k = 0; k < 4 && i + k < values; ++k)
        if (pixels)
          bytes[i + k] = static_cast<uint8_t>(random[k] >> 24);
        else
          floats[i + k] = (static_cast<float>(random[k] >> 8) * 0x1p-24f - 0.5f) * kWidth;
    }
  }

  void fill_labels(BatchBuffer& slot, uint32_t number) const {
    for (int64_t i = 0; i < options_.batch_size; ++i)
      slot.labels()[i] =
          philox({static_cast<uint32_t>(i), 0, number, 2}, options_.sampler.seed)[0] % options_.classes;
  }

  const LoaderOptions options_;
  std::vector<BatchBuffer> slots_;
  int64_t number_ = 0;
};

}  // namespace

std::unique_ptr<Loader> make_fixed_batches(const LoaderOptions& options) {
  return std::make_unique<FixedBatches>(options);
}

}  // namespace bench
