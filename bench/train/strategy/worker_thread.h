// A persistent thread that runs one task at a time; data_parallel uses one per replica.
#pragma once
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace bench {

class WorkerThread {
 public:
  // setup: runs first in the new thread, for thread-local settings such as the number of compute threads.
  explicit WorkerThread(std::function<void()> setup)
      : thread_([this, setup = std::move(setup)](const std::stop_token& stop) {
          setup();
          run(stop);
        }) {}

  void start(std::function<void()> task) {  // call wait() for the previous task first
    {
      const std::lock_guard lock(mutex_);
      task_ = std::move(task);
    }
    changed_.notify_all();
  }

  void wait() {  // waits for the task; rethrows its exception
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !task_; });
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [&] { return bool(task_); })) {
      lock.unlock();
      try {
        task_();  // nobody changes it before wait() has returned
      } catch (...) {
        error_ = std::current_exception();
      }
      lock.lock();
      task_ = nullptr;
      lock.unlock();  // the waiting thread needs it
      changed_.notify_all();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::function<void()> task_;  // empty: none is under way
  std::exception_ptr error_;
  std::jthread thread_;  // last member: ends first, after its task
};

}  // namespace bench
