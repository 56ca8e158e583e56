// Batches in slots. With the ring, threads draw tickets, one per image. A ticket determines batch, place and
// record, so the result doesn't depend on the thread that draws it. There is no lock per image: a slot opens
// when its previous batch is released, and its last image completes it. With `dataloader` a thread takes all
// tickets of a batch, and also waits until the batch may be begun. With `copy_to` the last image passes the
// batch on to another thread, whose copy completes it. With a batch decoder the thread of the last image
// decodes them all.
#include "bench/loading/loader/loader.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

#include "bench/image/decode.h"
#include "bench/loading/loader/bad_images.h"
#include "bench/loading/loader/batch_buffer.h"
#include "bench/loading/loader/batch_queue.h"
#include "bench/loading/loader/external_loader.h"
#include "bench/loading/loader/fixed_batches.h"
#include "bench/loading/loader/thread_placement.h"
#include "bench/loading/token_bucket.h"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

int64_t nanoseconds(Clock::duration duration) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
}

constexpr int kStopped = -1;
constexpr int kAllBegun = std::numeric_limits<int>::max();

struct Slot {
  Slot(const LoaderOptions& options, int number)
      : buffer(options.batch_size, bytes_per_image(options.format, options.image_px), options.allocate,
               options.decoding.allocate_images),
        open_for(number) {
    if (options.copy_to)
      copy.emplace(options.batch_size, bytes_per_image(options.format, options.image_px), options.copy_to);
    if (options.decoding.make_batch_decoder) {
      together = options.decoding.make_batch_decoder({options.batch_size, options.image_px, options.format});
      samples.resize(size_t(options.batch_size));
    }
  }
  BatchBuffer& handed_over() { return copy ? *copy : buffer; }
  BatchBuffer buffer;
  std::optional<BatchBuffer> copy;
  std::unique_ptr<BatchDecoder> together;  // with it, the place's samples
  std::vector<Sample> samples;
  // Number of the batch that may be written here. Threads with a ticket of a later batch wait on it. (int:
  // the widest type with a direct futex wait.)
  std::atomic<int> open_for;
  std::chrono::steady_clock::time_point ready_at;  // written before `complete`
  std::atomic<int> complete{-1};                   // number of the last batch that was finished here
  std::atomic<int64_t> missing{0};
  std::atomic<int64_t> read_ns{0}, decode_ns{0};
};

int slots_for(const LoaderOptions& options) {
  if (options.handing_over == HandingOver::ring || options.threads == 0) return options.ring_depth;
  return kPrefetchedPerThread * options.threads + 1;
}

class SlotLoader : public Loader {
 public:
  // Allocates and touches the buffers; start() creates threads and readers.
  SlotLoader(Storage& storage, const LoaderOptions& options)
      : storage_(storage),
        options_(options),
        whole_batches_(options.handing_over == HandingOver::dataloader && options.threads > 0),
        image_bytes_(bytes_per_image(options.format, options.image_px)),
        sampler_(options.sampler),
        pace_(options.images_per_s),
        bad_images_(options.sampler.records, options.next_step),
        begun_(kPrefetchedPerThread * options.threads) {
    for (int number = 0; number < slots_for(options); ++number) {
      slots_.push_back(std::make_unique<Slot>(options, number));
      slots_.back()->missing = options.batch_size;
    }
  }

  ~SlotLoader() override {
    stopping_ = true;
    begun_ = kAllBegun;
    begun_.notify_all();
    for (auto& slot : slots_) {
      slot->open_for = kStopped;
      slot->open_for.notify_all();
    }
    made_.close();
    for (std::thread& thread : threads_) thread.join();
  }

  void start() override {
    for (int i = 0; i < std::max(1, options_.threads); ++i) {
      workers_.push_back(std::make_unique<Worker>());
      workers_.back()->reader = storage_.reader();
      const auto& make_decoder = options_.decoding.make_decoder;
      workers_.back()->decoder = make_decoder ? make_decoder() : std::make_unique<Decoder>();
    }
    for (int i = 0; i < options_.threads; ++i) {
      threads_.emplace_back([this, i] {
        if (options_.background) yield_to_others();
        run(*workers_[static_cast<size_t>(i)], i);
      });
      pthread_setname_np(threads_.back().native_handle(), fmt::format("loader {}", i).c_str());
      if (options_.pin_threads) pin_to_core(threads_.back(), options_.first_core + i);
    }
    if (!options_.copy_to || options_.threads == 0) return;
    threads_.emplace_back([this] {
      while (const std::optional<int> batch = made_.take()) copy_and_complete(*batch);
    });
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
    stats.images = bad_images_.good();
    stats.encoded_bytes = encoded_bytes_.load();
    stats.buffer_bytes = static_cast<int64_t>(slots_.size()) * (options_.copy_to ? 2 : 1) *
                         options_.batch_size * (image_bytes_ + static_cast<int64_t>(sizeof(int64_t)));
    stats.bad_images = bad_images_.bad();
    stats.warnings = bad_images_.warnings();
    if (options_.decoding.decoded) stats.decoded = options_.decoding.decoded();
    return stats;
  }

 private:
  struct Worker {
    std::unique_ptr<StorageReader> reader;
    std::unique_ptr<Decoder> decoder;
    std::string reason;  // of the last record that could not be loaded
  };

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
    load_first_good(worker, slot, sample, place, slot.together ? Crop::together : Crop::alone);
    if (!slot.together) bad_images_.count_good();
    if (slot.missing.fetch_sub(1) > 1) return;
    if (slot.together) decode_together(worker, slot);
    if (!options_.copy_to)
      complete(batch);
    else if (options_.threads == 0)
      copy_and_complete(batch);
    else
      made_.add(batch);
  }

  enum class Crop { alone, together };

  // The sample, or the first record after it that can be read, and with Crop::alone also decoded.
  void load_first_good(Worker& worker, Slot& slot, Sample sample, int64_t place, Crop crop) {
    for (int failures = 0; !load_record(worker, slot, sample, place, crop);) {
      if (++failures == BadImages::kMostInARow)
        bad_images_.stop_after_many_in_a_row(name_of(sample.record), worker.reason);
      sample = next_of(sample);
    }
  }

  // Of a packed copy also the file that holds the record.
  std::string name_of(int64_t record) const {
    const std::string name = storage_.record_name(record);
    const auto files = storage_.cached_files({record});
    return files.empty() || files[0].string().ends_with(name) ? name : name + " in " + files[0].string();
  }

  Sample next_of(Sample sample) const {
    sample.record = (sample.record + 1) % options_.sampler.records;
    return sample;
  }

  void decode_together(Worker& worker, Slot& slot) {
    const auto began = Clock::now();
    const auto undecodable = slot.together->decode(slot.buffer.images());
    slot.decode_ns.fetch_add(nanoseconds(Clock::now() - began), std::memory_order_relaxed);
    for (const auto& [place, reason] : undecodable) {
      const Sample bad = slot.samples[static_cast<size_t>(place)];
      bad_images_.add(bad.record, name_of(bad.record), reason);
      load_first_good(worker, slot, next_of(bad), place, Crop::alone);
    }
    bad_images_.count_good(options_.batch_size);
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

  Augmentation augmentation_of(ImageSize size, const Sample& sample) const {
    return draw_augmentation(size, options_.sampler.seed, sample.epoch, sample.record);
  }

  // Returns false if the record can't be read or decoded; the reason is then in worker.reason.
  bool load_record(Worker& worker, Slot& slot, const Sample& sample, int64_t place, Crop crop) {
    const auto began = Clock::now();
    auto read = began;
    int64_t label = 0;
    try {
      const EncodedImage image = [&] {
        const ReadingStorage marked;
        return worker.reader->read(sample.record);
      }();
      read = Clock::now();
      label = image.label;
      const Augmentation augmentation = augmentation_of(worker.decoder->size(image), sample);
      if (crop == Crop::together) {
        slot.together->add(place, image, augmentation, *worker.decoder);
        slot.samples[static_cast<size_t>(place)] = sample;
      } else {
        worker.decoder->crop(image, augmentation, static_cast<int>(options_.image_px), options_.format,
                             slot.buffer.images() + place * image_bytes_);
      }
      encoded_bytes_.fetch_add(static_cast<int64_t>(image.bytes.size()), std::memory_order_relaxed);
    } catch (const std::runtime_error& error) {
      worker.reason = error.what();
      bad_images_.add(sample.record, name_of(sample.record), worker.reason);
      return false;
    }
    if (pace_.limits()) std::this_thread::sleep_until(pace_.ready_at(1));
    slot.read_ns.fetch_add(nanoseconds(read - began), std::memory_order_relaxed);
    slot.decode_ns.fetch_add(nanoseconds(Clock::now() - read), std::memory_order_relaxed);
    if (label < 0 || label >= options_.classes)
      throw BadDataset(
          fmt::format("{} has label {}, but the model has {} classes: set `classes` to the number of the "
                      "data set's classes; if that is right: {}",
                      name_of(sample.record), label, options_.classes, options_.next_step));
    slot.buffer.labels()[place] = label;
    return true;
  }

  void signal() {
    ++events_;
    events_.notify_all();
  }

  Storage& storage_;
  const LoaderOptions options_;
  const bool whole_batches_;  // one thread makes a whole batch
  const int64_t image_bytes_;
  const Sampler sampler_;
  TokenBucket pace_;
  BadImages bad_images_;
  std::vector<std::unique_ptr<Slot>> slots_;
  BatchQueue made_;  // copy_to: batches that wait for their copy
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::thread> threads_;
  std::atomic<int64_t> next_ticket_{0};
  std::atomic<int64_t> encoded_bytes_{0};
  std::atomic<int> completed_{0}, taken_{0};  // batches completed by the threads, returned by next()
  std::atomic<int> begun_;                    // dataloader: batches below this number may be made
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
