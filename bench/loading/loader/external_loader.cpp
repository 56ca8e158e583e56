// Another program's loader in place of this suite's: row field `loader: external`.
// What is measured, and what is the same as of this suite's loader: docs/loaders.md. The process starts
// outside of the clock, when the loader is made; start() lets it make batches, and bytes in two pipes hand
// over the slots of a ring in shared memory. No bad image is replaced; LoaderStats::encoded_bytes counts the
// files in the list's order.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/loading/loader/external_program.h"
#include "harness/base/file.h"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int64_t kSampledBatches = 8, kSampledOfBatch = 8;  // images whose pixels are compared
// In a loader's own order: images that are compared, and images of their label that one is compared with.
constexpr size_t kMisplaced = 16, kMostAlike = 256;
constexpr int64_t kPage = 4096;

// Mean absolute difference of two images, in levels of 0 to 255.
double difference(const uint8_t* one, const uint8_t* other, BatchFormat format, int64_t side) {
  const int64_t values = 3 * side * side;
  double sum = 0;
  for (int64_t i = 0; i < values; ++i) {
    if (format == BatchFormat::uint8) {
      sum += std::abs(int(one[i]) - int(other[i]));
      continue;
    }
    float a, b;
    std::memcpy(&a, one + 4 * i, 4), std::memcpy(&b, other + 4 * i, 4);
    const auto channel = static_cast<int>(format == BatchFormat::float32 ? i / (side * side) : i % 3);
    sum += std::abs(double(a) - double(b)) / normalise_scale(channel);
  }
  return sum / double(values);
}

// One of the images that the program is told to make batches of.
struct ListedImage {
  int64_t record = 0, label = 0, bytes = 0;
  Augmentation augmentation;
};

// In the row's order: the images of the slice, and so many more that the adapter's loader is busy until its
// end. Records that are no usual JPEG files are replaced by the next one that is. Throws BadDataset if none
// is.
std::vector<ListedImage> list_images(Storage& storage, const LoaderOptions& options) {
  const Sampler sampler(options.sampler);
  const auto reader = storage.reader();
  Decoder decoder;
  struct Header {
    bool usual = false;
    ImageSize size;
    int64_t label = 0, bytes = 0;
  };
  std::vector<std::optional<Header>> headers(static_cast<size_t>(options.sampler.records));
  const auto header_of = [&](int64_t record) -> const Header& {
    auto& header = headers[static_cast<size_t>(record)];
    if (header) return *header;
    header.emplace();
    try {
      const EncodedImage image = reader->read(record);
      header->size = decoder.size(image);
      header->usual =
          decoder.size_if_usual(image, {0, 0, header->size.width, header->size.height}).has_value();
      header->label = image.label;
      header->bytes = static_cast<int64_t>(image.bytes.size());
    } catch (const std::runtime_error&) {  // as unusual
    }
    return *header;
  };
  std::vector<ListedImage> list;
  const int64_t wanted =
      options.external->images + (options.ring_depth + 4 * options.threads + 4) * options.batch_size;
  for (int64_t place = 0; place < wanted; ++place) {
    Sample sample = sampler.at(options.first_batch * options.batch_size + place);
    int64_t tried = 0;
    while (!header_of(sample.record).usual && tried++ < options.sampler.records)
      sample.record = (sample.record + 1) % options.sampler.records;
    const Header& header = header_of(sample.record);
    if (!header.usual)
      throw BadDataset(
          "no image of the data set is a JPEG file in RGB or grey, which external loaders are given");
    list.push_back({sample.record, header.label, header.bytes,
                    draw_augmentation(header.size, options.sampler.seed, sample.epoch, sample.record)});
  }
  return list;
}

class ExternalLoader : public Loader {
 public:
  ExternalLoader(Storage& storage, const LoaderOptions& options)
      : storage_(storage),
        options_(options),
        external_(*options.external),
        folder_(external_.folder / "loader" / std::to_string(options.sampler.rank)),
        image_bytes_(bytes_per_image(options.format, options.image_px)),
        labels_at_((options.batch_size * image_bytes_ + 63) / 64 * 64),
        time_at_(labels_at_ + options.batch_size * int64_t{sizeof(int64_t)}),
        slot_bytes_((time_at_ + int64_t{sizeof(int64_t)} + kPage - 1) / kPage * kPage),
        list_(list_images(storage, options)) {
    std::filesystem::remove_all(folder_);
    base::make_folder(folder_ / "copies");
    map_memory();
    write_list();
    program_.emplace(ExternalProgramOptions{.command = external_.command,
                                            .folder = folder_,
                                            .memory_fd = memory_file_.number(),
                                            .rank = options.sampler.rank,
                                            .batches = external_.images / options.batch_size});
    program_->wait_for('R', external_.start_s, "until its adapter was prepared");
  }

  ~ExternalLoader() override {
    program_.reset();
    ::munmap(memory_, static_cast<size_t>(options_.ring_depth * slot_bytes_));
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  void start() override { program_->tell(std::string(1 + static_cast<size_t>(options_.ring_depth), 'G')); }

  Batch next() override {
    const int64_t number = program_->batches();
    program_->wait_for('B', number == 0 ? external_.start_s : external_.silence_s,
                       fmt::format("for batch {}", number));
    const uint8_t* slot = memory_ + number % options_.ring_depth * slot_bytes_;
    Batch batch;
    batch.images = slot;
    batch.labels = reinterpret_cast<const int64_t*>(slot + labels_at_);
    batch.size = options_.batch_size;
    batch.number = number;
    int64_t ready_ns = 0;
    std::memcpy(&ready_ns, slot + time_at_, sizeof ready_ns);
    batch.ready_at = Clock::time_point(std::chrono::nanoseconds(ready_ns));
    if (external_.hands_over) check(batch);
    return batch;
  }

  void release(const Batch&) override { program_->tell("F"); }

  int ready_batches() const override { return program_->ready_batches(); }

  LoaderStats stats() const override {
    LoaderStats stats;
    stats.images = program_->batches() * options_.batch_size;
    stats.encoded_bytes = encoded_bytes_;
    stats.buffer_bytes = options_.ring_depth * slot_bytes_;
    return stats;
  }

  std::optional<harness::RecordExternal> compare() override {
    harness::RecordExternal result;
    result.misplaced = misplaced_;
    const auto reader = storage_.reader();
    Decoder decoder;
    std::vector<uint8_t> expected(static_cast<size_t>(image_bytes_));
    double sum = 0, greatest = 0;
    if (misplaced_ > 0 && samples_.size() > kMisplaced) samples_.resize(kMisplaced);
    for (const Sampled& sampled : samples_) {
      double nearest = 256;
      for (const ListedImage* listed : candidates(sampled)) {
        decoder.crop(reader->read(listed->record), listed->augmentation, int(options_.image_px),
                     options_.format, expected.data());
        nearest = std::min(
            nearest, difference(sampled.pixels.data(), expected.data(), options_.format, options_.image_px));
      }
      sum += nearest;
      greatest = std::max(greatest, nearest);
    }
    result.compared = static_cast<int64_t>(samples_.size());
    if (samples_.empty()) return result;
    result.mean_difference = sum / double(samples_.size());
    result.greatest_difference = greatest;
    return result;
  }

 private:
  struct Sampled {
    int64_t place = 0, label = 0;
    std::vector<uint8_t> pixels;
  };

  void map_memory() {
    memory_file_ = base::Descriptor(
        int(::syscall(SYS_memfd_create, "batches of an external loader", 1u /* MFD_CLOEXEC */)));
    const auto bytes = static_cast<size_t>(options_.ring_depth * slot_bytes_);
    void* mapped = MAP_FAILED;
    if (memory_file_.number() >= 0 && ::ftruncate(memory_file_.number(), static_cast<off_t>(bytes)) == 0)
      mapped =
          ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, memory_file_.number(), 0);
    if (mapped == MAP_FAILED)
      throw std::runtime_error(
          fmt::format("an external loader's ring of {} bytes: {}", bytes, std::strerror(errno)));
    memory_ = static_cast<uint8_t*>(mapped);
  }

  void write_list() const {
    std::ofstream list(folder_ / "list.tsv", std::ios::binary);
    for (const ListedImage& image : list_) {
      const auto& [box, flip] = image.augmentation;
      list << fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\n", image.label, box.left, box.top, box.width,
                          box.height, int(flip), storage_.cached_files({image.record}).at(0).string());
    }
    if (!list.flush()) base::throw_write_error(folder_, errno);
    const nlohmann::json job = {{"rank", options_.sampler.rank},
                                {"world", options_.sampler.world_size},
                                {"batch", options_.batch_size},
                                {"threads", options_.threads},
                                {"seed", options_.sampler.seed},
                                {"classes", external_.classes},
                                {"format", options_.format == BatchFormat::uint8     ? "uint8"
                                           : options_.format == BatchFormat::float32 ? "float32"
                                                                                     : "channels_last"},
                                {"image_px", options_.image_px},
                                {"mean", kMean},
                                {"deviation", kDeviation},
                                {"folder", folder_.string()},
                                {"memory", memory_file_.number()},
                                {"slots", options_.ring_depth},
                                {"slot_bytes", slot_bytes_},
                                {"labels_at", labels_at_},
                                {"time_at", time_at_},
                                {"hands_over", external_.hands_over}};
    base::write_whole_file(folder_ / "job.json",
                           job.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
                           /*durable=*/false);
  }

  void check(const Batch& batch) {
    const int64_t first = batch.number * batch.size;
    for (int64_t i = 0; i < batch.size; ++i) {
      if (batch.labels[i] < 0 || batch.labels[i] >= options_.classes)
        throw BadDataset(fmt::format("{}: label {} in batch {}; expected 0 to {}", program_->who(),
                                     batch.labels[i], batch.number, options_.classes - 1));
      const ListedImage& listed = list_[static_cast<size_t>(first + i) % list_.size()];
      misplaced_ += batch.labels[i] != listed.label;
      encoded_bytes_ += listed.bytes;
    }
    if (!external_.compares_pixels || batch.number >= kSampledBatches) return;
    for (int64_t i = 0; i < std::min(kSampledOfBatch, batch.size); ++i) {
      const int64_t place = (i * batch.size / kSampledOfBatch + batch.number) % batch.size;
      const uint8_t* pixels = static_cast<const uint8_t*>(batch.images) + place * image_bytes_;
      samples_.push_back({first + place, batch.labels[place], {pixels, pixels + image_bytes_}});
    }
  }

  // The images that this one can be.
  std::vector<const ListedImage*> candidates(const Sampled& sampled) const {
    const ListedImage& own = list_[static_cast<size_t>(sampled.place) % list_.size()];
    if (misplaced_ == 0) return {&own};
    std::vector<const ListedImage*> alike;
    for (const ListedImage& listed : list_)
      if (listed.label == sampled.label && alike.size() < kMostAlike) alike.push_back(&listed);
    return alike;
  }

  Storage& storage_;
  const LoaderOptions options_;
  const ExternalOptions external_;
  const std::filesystem::path folder_;
  const int64_t image_bytes_, labels_at_, time_at_, slot_bytes_;
  const std::vector<ListedImage> list_;
  base::Descriptor memory_file_;
  uint8_t* memory_ = nullptr;
  std::optional<ExternalProgram> program_;
  int64_t misplaced_ = 0, encoded_bytes_ = 0;
  std::vector<Sampled> samples_;
};

}  // namespace

std::unique_ptr<Loader> make_external_loader(Storage& storage, const LoaderOptions& options) {
  return std::make_unique<ExternalLoader>(storage, options);
}

}  // namespace bench
