// A thread that runs one task at a time, kept for the whole slice: DataParallel's replicas live in these.
#pragma once
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace bench {

class WorkerThread {
 public:
  // setup runs first in the new thread (thread-local settings such as the number of compute threads).
  explicit WorkerThread(std::function<void()> setup);
  ~WorkerThread();
  void start(std::function<void()> task);  // the previous task must have been waited for
  void wait();                             // rethrows what the task threw

 private:
  void run(const std::function<void()>& setup);
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> task_;
  std::exception_ptr error_;
  bool busy_ = false, stop_ = false;
  std::thread thread_;
};

}  // namespace bench
