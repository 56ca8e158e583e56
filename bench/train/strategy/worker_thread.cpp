// Hands tasks over with a mutex and a condition variable; wait() rethrows a task's exception.
#include "bench/train/strategy/worker_thread.h"

#include <utility>

namespace bench {

WorkerThread::WorkerThread(std::function<void()> setup)
    : thread_([this, setup = std::move(setup)] { run(setup); }) {}

WorkerThread::~WorkerThread() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void WorkerThread::start(std::function<void()> task) {
  {
    std::lock_guard lock(mutex_);
    task_ = std::move(task);
    busy_ = true;
  }
  changed_.notify_all();
}

void WorkerThread::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !busy_; });
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void WorkerThread::run(const std::function<void()>& setup) {
  setup();
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return busy_ || stop_; });
    if (!busy_) return;
    const std::function<void()> task = std::move(task_);
    lock.unlock();
    std::exception_ptr error;
    try {
      task();
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    error_ = error;
    busy_ = false;
    lock.unlock();
    changed_.notify_all();
  }
}

}  // namespace bench
