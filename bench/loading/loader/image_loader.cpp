// The path of one image from its record to its place in a batch, with the times that phases are made of.
#include "bench/loading/loader/image_loader.h"

#include <fmt/format.h>

#include <chrono>
#include <stdexcept>
#include <thread>

namespace bench {

using Clock = std::chrono::steady_clock;

static int64_t nanoseconds(Clock::duration duration) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
}

ImageLoader::ImageLoader(Storage& storage, const LoaderOptions& options)
    : storage_(storage),
      options_(options),
      image_bytes_(bytes_per_image(options.format, options.image_px)),
      pace_(options.images_per_s),
      bad_images_(options.sampler.records, options.next_step) {}

std::unique_ptr<ImageLoader::Worker> ImageLoader::make_worker() const {
  const auto& make_decoder = options_.decoding.make_decoder;
  auto worker = std::make_unique<Worker>();
  worker->reader = storage_.reader();
  worker->decoder = make_decoder ? make_decoder() : std::make_unique<Decoder>();
  return worker;
}

void ImageLoader::load(Worker& worker, Slot& slot, const Sample& sample, int64_t place) {
  load_first_good(worker, slot, sample, place, slot.together ? Crop::together : Crop::alone);
  if (!slot.together) bad_images_.count_good();
}

void ImageLoader::decode_together(Worker& worker, Slot& slot) {
  if (!slot.together) return;
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

void ImageLoader::add_to(LoaderStats& stats) const {
  bad_images_.add_to(stats);
  stats.encoded_bytes = encoded_bytes_;
}

// The sample, or the first record after it that can be read, and with Crop::alone also decoded.
void ImageLoader::load_first_good(Worker& worker, Slot& slot, Sample sample, int64_t place, Crop crop) {
  for (int failures = 0; !load_record(worker, slot, sample, place, crop);) {
    if (++failures == BadImages::kMostInARow)
      bad_images_.stop_after_many_in_a_row(name_of(sample.record), worker.reason);
    sample = next_of(sample);
  }
}

// Returns false if the record can't be read or decoded; the reason is then in worker.reason.
bool ImageLoader::load_record(Worker& worker, Slot& slot, const Sample& sample, int64_t place, Crop crop) {
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
    const Augmentation augmentation =
        draw_augmentation(worker.decoder->size(image), options_.sampler.seed, sample.epoch, sample.record);
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

// Of a packed copy also the file that holds the record.
std::string ImageLoader::name_of(int64_t record) const {
  const std::string name = storage_.record_name(record);
  const auto files = storage_.cached_files({record});
  return files.empty() || files[0].string().ends_with(name) ? name : name + " in " + files[0].string();
}

Sample ImageLoader::next_of(Sample sample) const {
  sample.record = (sample.record + 1) % options_.sampler.records;
  return sample;
}

}  // namespace bench
