// Emulates a slower source: a byte rate shared by all readers, and a delay per record.
#include <chrono>
#include <thread>
#include <utility>

#include "bench/loading/storage/storage.h"
#include "bench/loading/token_bucket.h"
#include "harness/base/timer_slack.h"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

class Throttled : public StorageAround {
 public:
  Throttled(std::unique_ptr<Storage> storage, double bytes_per_second, double latency_ms)
      : StorageAround(std::move(storage)),
        bucket_(bytes_per_second),
        latency_(static_cast<int64_t>(latency_ms * 1e6)) {}

  std::unique_ptr<StorageReader> reader() override {
    return std::make_unique<Reader>(storage_->reader(), *this);
  }

 private:
  class Reader : public StorageReader {
   public:
    Reader(std::unique_ptr<StorageReader> reader, Throttled& owner)
        : reader_(std::move(reader)), owner_(owner) {}
    EncodedImage read(int64_t record) override {
      const Clock::time_point asked = Clock::now();
      const EncodedImage image = reader_->read(record);
      base::sleep_precisely();
      std::this_thread::sleep_until(std::max(owner_.bucket_.ready_at(static_cast<double>(image.bytes.size())),
                                             asked + owner_.latency_));
      return image;
    }

   private:
    std::unique_ptr<StorageReader> reader_;
    Throttled& owner_;
  };

  TokenBucket bucket_;
  std::chrono::nanoseconds latency_;
};

}  // namespace

std::unique_ptr<Storage> throttled(std::unique_ptr<Storage> storage, double bytes_per_second,
                                   double latency_ms) {
  if (bytes_per_second <= 0 && latency_ms <= 0) return storage;
  return std::make_unique<Throttled>(std::move(storage), bytes_per_second, latency_ms);
}

}  // namespace bench
