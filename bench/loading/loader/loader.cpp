// Batches in slots: threads draw tickets, one per image (with `dataloader` all of a batch), which determine
// batch, place and record, so the result doesn't depend on the thread. There is no lock per image: a slot
// opens when its previous batch is released, and its last image completes it, passes it on to the thread of
// `copy_to`, or has the batch decoder decode all.
#include "bench/loading/loader/loader.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <exception>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "bench/loading/loader/image_loader.h"
#include "bench/loading/loader/slot.h"

namespace bench {
namespace {

constexpr int kStopped = -1;
constexpr int kAllBegun = std::numeric_limits<int>::max();

int slots_for(const LoaderOptions& options) {
  if (options.handing_over == HandingOver::ring || options.threads == 0) return options.ring_depth;
  return kPrefetchedPerThread * options.threads + 1;
}

// Lets the calling thread run only on cores that are otherwise idle (SCHED_IDLE). If the kernel refuses,
// results stay the same, but ranks wait longer for a core.
void yield_to_others() {
  const sched_param none{};
  ::sched_setscheduler(0, SCHED_IDLE, &none);
}

// Pins the thread to one of the cores that the process may use; numbers beyond them start again at the first.
// Best effort: fails silently if the container has lost the core since start.
void pin_to_core(std::thread& thread, int number) {
  cpu_set_t allowed, one;
  CPU_ZERO(&one);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  number %= CPU_COUNT(&allowed);
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &allowed) && number-- == 0) CPU_SET(core, &one);
  pthread_setaffinity_np(thread.native_handle(), sizeof one, &one);
}

class SlotLoader : public Loader {
 public:
  // Allocates and touches the buffers; start() creates threads and readers.
  SlotLoader(Storage& storage, const LoaderOptions& options)
      : options_(options),
        whole_batches_(options.handing_over == HandingOver::dataloader && options.threads > 0),
        image_bytes_(bytes_per_image(options.format, options.image_px)),
        sampler_(options.sampler),
        images_(storage, options_),
        begun_(kPrefetchedPerThread * options.threads) {
    for (int number = 0; number < slots_for(options); ++number)
      slots_.push_back(std::make_unique<Slot>(options, number));
  }

  ~SlotLoader() override {
    stopping_ = true;
    begun_ = kAllBegun;
    begun_.notify_all();
    for (auto& slot : slots_) {
      slot->open_for = kStopped;
      slot->open_for.notify_all();
    }
    ++made_;
    made_.notify_one();
    for (std::thread& thread : threads_) thread.join();
  }

  void start() override {
    for (int i = 0; i < std::max(1, options_.threads); ++i) workers_.push_back(images_.make_worker());
    for (int i = 0; i < options_.threads; ++i) {
      threads_.emplace_back([this, i] {
        if (options_.background) yield_to_others();
        run(*workers_[static_cast<size_t>(i)], i);
      });
      pthread_setname_np(threads_.back().native_handle(), fmt::format("loader {}", i).c_str());
      if (options_.pin_threads) pin_to_core(threads_.back(), options_.first_core + i);
    }
    if (!options_.copy_to || options_.threads == 0) return;
    threads_.emplace_back([this] { copy_made_batches(); });
    pthread_setname_np(threads_.back().native_handle(), "pin memory");
  }

  Batch next() override {
    if (workers_.empty()) throw std::logic_error("start() the loader before next()");
    const int number = taken_.load();
    Slot& slot = slot_of(number);
    if (options_.threads == 0) {
      if (slot.open_for != number)
        throw std::logic_error(
            "the ring of a loader without threads is full: release() batches before next()");
      for (int64_t i = 0; i < options_.batch_size; ++i) load(*workers_[0], number, i);
    }
    for (;;) {
      const int events = events_.load();
      if (failed_) std::rethrow_exception(failure_);
      if (slot.complete == number) break;
      events_.wait(events);
    }
    taken_ = number + 1;
    if (whole_batches_) {
      ++begun_;
      begun_.notify_all();
    }
    Batch batch;
    batch.images = slot.handed_over().images();
    batch.labels = slot.handed_over().labels();
    batch.size = options_.batch_size;
    batch.number = number;
    batch.ready_at = slot.ready_at;
    batch.read_ms = static_cast<double>(slot.read_ns.load()) * 1e-6;
    batch.decode_ms = static_cast<double>(slot.decode_ns.load()) * 1e-6;
    return batch;
  }

  void release(const Batch& batch) override {
    Slot& slot = slot_of(batch.number);
    slot.missing = options_.batch_size;
    slot.read_ns = slot.decode_ns = 0;
    slot.open_for = static_cast<int>(batch.number) + static_cast<int>(slots_.size());
    slot.open_for.notify_all();
  }

  int ready_batches() const override { return completed_.load() - taken_.load(); }

  LoaderStats stats() const override {
    LoaderStats stats;
    images_.add_to(stats);
    stats.buffer_bytes = static_cast<int64_t>(slots_.size()) * (options_.copy_to ? 2 : 1) *
                         options_.batch_size * (image_bytes_ + static_cast<int64_t>(sizeof(int64_t)));
    if (options_.decoding.decoded) stats.decoded = options_.decoding.decoded();
    return stats;
  }

 private:
  using Worker = ImageLoader::Worker;

  Slot& slot_of(int64_t batch) { return *slots_[static_cast<size_t>(batch) % slots_.size()]; }

  void run(Worker& worker, int number) {
    try {
      if (whole_batches_)
        make_every_nth_batch(worker, number);
      else
        draw_tickets(worker);
    } catch (...) {
      const std::lock_guard lock(failure_mutex_);
      if (!failure_) failure_ = std::current_exception();
      failed_ = true;
      signal();
    }
  }

  void draw_tickets(Worker& worker) {
    while (!stopping_ && !failed_) {
      const int64_t ticket = next_ticket_.fetch_add(1, std::memory_order_relaxed);
      const int batch = static_cast<int>(ticket / options_.batch_size);
      if (!wait_until_open(batch)) return;
      load(worker, batch, ticket % options_.batch_size);
    }
  }

  void make_every_nth_batch(Worker& worker, int first) {
    for (int batch = first;; batch += options_.threads) {
      for (int begun = begun_.load(); begun <= batch; begun = begun_.load()) begun_.wait(begun);
      if (!wait_until_open(batch)) return;
      for (int64_t place = 0; place < options_.batch_size; ++place) {
        if (stopping_ || failed_) return;
        load(worker, batch, place);
      }
    }
  }

  bool wait_until_open(int batch) {
    std::atomic<int>& open_for = slot_of(batch).open_for;
    for (int seen = open_for.load(); seen != batch; seen = open_for.load()) {
      if (stopping_) return false;
      open_for.wait(seen);
    }
    return true;
  }

  void load(Worker& worker, int batch, int64_t place) {
    Slot& slot = slot_of(batch);
    const Sample sample = sampler_.at((options_.first_batch + batch) * options_.batch_size + place);
    images_.load(worker, slot, sample, place);
    if (slot.missing.fetch_sub(1) > 1) return;
    images_.decode_together(worker, slot);
    if (!options_.copy_to) return complete(batch);
    if (options_.threads == 0) return copy_and_complete(batch);
    slot.to_copy = batch;
    ++made_;
    made_.notify_one();
  }

  // The thread of `copy_to`. Of several batches it copies the one first that next() takes first.
  void copy_made_batches() {
    for (int copied = 0;; ++copied) {
      made_.wait(copied);
      if (stopping_) return;
      const auto first =
          std::ranges::min_element(slots_, {}, [](auto& slot) { return slot->to_copy.load(); });
      copy_and_complete((*first)->to_copy.exchange(Slot::kNone));
    }
  }

  void copy_and_complete(int batch) {
    Slot& slot = slot_of(batch);
    const auto images = static_cast<size_t>(options_.batch_size);
    std::memcpy(slot.copy->images(), slot.buffer.images(), images * static_cast<size_t>(image_bytes_));
    std::memcpy(slot.copy->labels(), slot.buffer.labels(), images * sizeof(int64_t));
    complete(batch);
  }

  void complete(int batch) {
    Slot& slot = slot_of(batch);
    slot.ready_at = std::chrono::steady_clock::now();
    slot.complete = batch;
    ++completed_;
    signal();
  }

  void signal() {
    ++events_;
    events_.notify_all();
  }

  const LoaderOptions options_;
  const bool whole_batches_;  // one thread makes a whole batch
  const int64_t image_bytes_;
  const Sampler sampler_;
  ImageLoader images_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::thread> threads_;
  std::atomic<int64_t> next_ticket_{0};
  std::atomic<int> completed_{0}, taken_{0};  // batches completed by the threads, returned by next()
  std::atomic<int> begun_;                    // dataloader: batches below this number may be made
  std::atomic<int> made_{0};                  // copy_to: batches that were copied or wait for it
  std::atomic<int> events_{0};                // incremented when next() should check again
  std::atomic<bool> stopping_{false}, failed_{false};
  std::mutex failure_mutex_;
  std::exception_ptr failure_;  // written once, before failed_
};

}  // namespace

HandingOver handing_over(const std::string& name) {
  if (name == "ring") return HandingOver::ring;
  if (name == "dataloader") return HandingOver::dataloader;
  throw std::invalid_argument("handing_over: expected ring or dataloader, found " + name);
}

std::unique_ptr<Loader> make_loader(Storage& storage, const LoaderOptions& options) {
  if (options.batch_size < 1 || options.image_px < 1 || options.threads < 0 || options.ring_depth < 1 ||
      options.classes < 1)
    throw std::invalid_argument(
        "a loader needs a batch size, an image size, a ring depth and classes of at least 1");
  if (options.copy_to && options.decoding.make_decoder)
    throw std::invalid_argument("a loader can't copy batches that are made in device memory");
  if (storage.generates_batches()) return make_fixed_batches(options);
  if (options.external) return make_external_loader(storage, options);
  return std::make_unique<SlotLoader>(storage, options);
}

}  // namespace bench
