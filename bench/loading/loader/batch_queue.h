// Numbers of finished batches, passed from the loader's threads to the one that copies them, in the order of
// their completion.
#pragma once
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

namespace bench {

class BatchQueue {
 public:
  void add(int batch) {
    {
      const std::lock_guard lock(mutex_);
      batches_.push_back(batch);
    }
    changed_.notify_one();
  }
  // Waits for a batch; none once the queue is closed, even if some are left.
  std::optional<int> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || !batches_.empty(); });
    if (closed_) return std::nullopt;
    const int first = batches_.front();
    batches_.pop_front();
    return first;
  }
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<int> batches_;
  bool closed_ = false;
};

}  // namespace bench
