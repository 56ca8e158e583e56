// Emulates a slower source: a byte rate shared by all readers, and a delay per record.
#include <chrono>
#include <thread>
#include <utility>

#include "bench/loading/storage/storage.h"
#include "bench/loading/token_bucket.h"
#include "harness/base/timer_slack.h"

namespace bench {
namespace {

class Throttled : public StorageAround {
 public:
  Throttled(std::unique_ptr<Storage> storage, double bytes_per_second, double latency_ms)
      : StorageAround(std::move(storage)),
        bucket_(bytes_per_second),
        latency_(static_cast<int64_t>(latency_ms * 1e6)) {}

  std::unique_ptr<StorageReader> reader() override {
    return reader_with([this, reader = storage_->reader()](int64_t record) {
      const auto asked = std::chrono::steady_clock::now();
      const EncodedImage image = reader->read(record);
      base::sleep_precisely();
      std::this_thread::sleep_until(
          std::max(bucket_.ready_at(static_cast<double>(image.bytes.size())), asked + latency_));
      return image;
    });
  }

 private:
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
