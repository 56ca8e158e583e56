// A persistent thread that runs one task at a time; data_parallel uses one per replica.
#pragma once
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace bench {

class WorkerThread {
 public:
  // setup: runs first in the new thread, for thread-local settings such as the number of compute threads.
  explicit WorkerThread(std::function<void()> setup);
  ~WorkerThread();
  void start(std::function<void()> task);  // call wait() for the previous task first
  void wait();                             // waits for the task; rethrows its exception

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
