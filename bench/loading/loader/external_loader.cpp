// Writes the list of images, starts ring.py, and waits for bytes in its pipe or for its end.
#include "bench/loading/loader/external_loader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "harness/base/child_process.h"
#include "harness/base/file.h"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int64_t kSampledBatches = 8, kSampledOfBatch = 8;  // images whose pixels are compared
// In a loader's own order: images that are compared, and images of their label that one is compared with.
constexpr size_t kMisplaced = 16, kMostAlike = 256;
constexpr int64_t kPage = 4096;
constexpr auto kFarewell = std::chrono::seconds(3);  // for workers of the adapter to end by themselves
constexpr auto kStackTime = std::chrono::milliseconds(300);

base::Descriptor opened(int descriptor) {
  if (descriptor < 0)
    throw std::runtime_error(fmt::format("an external loader's ring: {}", std::strerror(errno)));
  return base::Descriptor(descriptor);
}

// The end to read from and the end to write to.
std::pair<base::Descriptor, base::Descriptor> make_pipe() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) opened(-1);
  return {base::Descriptor(ends[0]), base::Descriptor(ends[1])};
}

struct Listed {
  int64_t record = 0, label = 0, bytes = 0;
  Augmentation augmentation;
};

// In the row's order: the images of the slice, and so many more that the adapter's loader is busy until its
// end.
std::vector<Listed> list_images(Storage& storage, const LoaderOptions& options) {
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
  std::vector<Listed> list;
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
    start_program();
    try {
      if (message(external_.start_s, "until its adapter was prepared") != 'R') throw_protocol();
    } catch (...) {
      end_program();
      throw;
    }
  }

  ~ExternalLoader() override {
    end_program();
    ::munmap(memory_, static_cast<size_t>(options_.ring_depth * slot_bytes_));
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  void start() override { say(std::string(1 + static_cast<size_t>(options_.ring_depth), 'G')); }

  Batch next() override {
    const double limit_s = taken_ == 0 ? external_.start_s : external_.silence_s;
    if (message(limit_s, fmt::format("for batch {}", taken_)) != 'B') throw_protocol();
    const uint8_t* slot = memory_ + taken_ % options_.ring_depth * slot_bytes_;
    Batch batch;
    batch.images = slot;
    batch.labels = reinterpret_cast<const int64_t*>(slot + labels_at_);
    batch.size = options_.batch_size;
    batch.number = taken_++;
    int64_t ready_ns = 0;
    std::memcpy(&ready_ns, slot + time_at_, sizeof ready_ns);
    batch.ready_at = Clock::time_point(std::chrono::nanoseconds(ready_ns));
    if (external_.hands_over) check(batch);
    return batch;
  }

  void release(const Batch&) override { say("F"); }

  int ready_batches() const override {
    int bytes = 0;
    ::ioctl(full_.number(), FIONREAD, &bytes);
    return bytes;
  }

  LoaderStats stats() const override {
    LoaderStats stats;
    stats.images = taken_ * options_.batch_size;
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
      for (const Listed* listed : candidates(sampled)) {
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
    memory_file_ =
        opened(int(::syscall(SYS_memfd_create, "batches of an external loader", 1u /* MFD_CLOEXEC */)));
    const auto bytes = static_cast<size_t>(options_.ring_depth * slot_bytes_);
    void* mapped = MAP_FAILED;
    if (::ftruncate(memory_file_.number(), static_cast<off_t>(bytes)) == 0)
      mapped =
          ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, memory_file_.number(), 0);
    if (mapped == MAP_FAILED)
      throw std::runtime_error(
          fmt::format("an external loader's ring of {} bytes: {}", bytes, std::strerror(errno)));
    memory_ = static_cast<uint8_t*>(mapped);
  }

  void write_list() const {
    std::ofstream list(folder_ / "list.tsv", std::ios::binary);
    for (const Listed& image : list_) {
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

  void start_program() {
    auto [free_end, free] = make_pipe();
    auto [full, full_end] = make_pipe();
    base::Command command;
    command.arguments = external_.command;
    command.environment["RING_JOB"] = folder_ / "job.json";
    command.input_fd = free_end.number();
    command.output_fd = full_end.number();
    command.passed_fd = memory_file_.number();
    // What the row sets for its ranks' allocator isn't for other programs.
    command.without = {"LD_PRELOAD", "MALLOC_ARENA_MAX", "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_MAX_"};
    pid_ = base::start(command);
    ended_ = opened(int(::syscall(SYS_pidfd_open, pid_, 0)));
    free_ = std::move(free);
    full_ = std::move(full);
  }

  void say(const std::string& bytes) {  // a program that has ended is noticed by next()
    [[maybe_unused]] const ssize_t written = ::write(free_.number(), bytes.data(), bytes.size());
  }

  // As the row's command, which has no ring.py.
  std::string who() const {
    std::string words;
    for (const std::string& word : external_.command)
      if (!word.ends_with("/ring.py")) words += (words.empty() ? "" : " ") + word;
    return fmt::format("external loader `{}`", words);
  }

  // The program's next word: R, it is ready; B, a batch; any other one ends in an exception.
  char message(double limit_s, const std::string& what) {
    const auto until =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limit_s));
    for (;;) {
      pollfd sources[2] = {{full_.number(), POLLIN, 0}, {ended_.number(), POLLIN, 0}};
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
      if (left <= 0)
        throw LoaderHangs(fmt::format("{} was waited {:g} s {}; {}", who(), limit_s, what, stack()));
      if (::poll(sources, 2, int(std::min<int64_t>(left, 1 << 30))) < 0) continue;
      char word = 0;
      if ((sources[0].revents & POLLIN) && ::read(full_.number(), &word, 1) == 1)
        return word == 'R' || word == 'B' ? word : fail(word);
      if (sources[0].revents | sources[1].revents) throw_ended();
    }
  }

  [[noreturn]] char fail(char word) {
    std::string text;
    char part[4096];
    for (ssize_t size; word != 'N' && (size = ::read(full_.number(), part, sizeof part)) > 0;)
      text.append(part, static_cast<size_t>(size));
    if (word == 'N')
      throw BadDataset(fmt::format("{}: the adapter ended after {} batches; expected {}, which the row takes",
                                   who(), taken_, external_.images / options_.batch_size));
    if (word != 'U' && word != 'E') throw_protocol();
    if (word == 'U') throw BadDataset(fmt::format("{}: {}", who(), text));
    throw std::runtime_error(fmt::format("{}: {}", who(), text));
  }

  [[noreturn]] void throw_protocol() const {
    throw std::runtime_error(
        who() + " wrote something unexpected; next: begin the command with a Python, which runs ring.py");
  }

  [[noreturn]] void throw_ended() {
    siginfo_t end{};
    ::waitid(P_PID, static_cast<id_t>(pid_), &end, WEXITED | WNOWAIT);
    const int code = end.si_code == CLD_EXITED ? end.si_status : 128 + end.si_status;
    throw std::runtime_error(
        fmt::format("{} {} after {} batches; next: the row's rank-{}.stderr has its last words", who(),
                    base::ended_in_words(code), taken_, options_.sampler.rank));
  }

  // Where the program's main thread is, from Python's faulthandler.
  std::string stack() const {
    ::kill(pid_, SIGUSR2);
    std::this_thread::sleep_for(kStackTime);
    std::ifstream file(folder_ / "stack");
    std::vector<std::string> places;
    bool main_thread = false;
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("Current thread") || line.starts_with("Thread"))
        main_thread = line.starts_with("Current");
      const size_t at = line.find("File ");
      if (main_thread && at != line.npos && places.size() < 3) places.push_back(line.substr(at + 5));
    }
    return places.empty() ? "it tells no place"
                          : fmt::format("it is in {}", fmt::join(places, ", called from "));
  }

  void check(const Batch& batch) {
    const int64_t first = batch.number * batch.size;
    for (int64_t i = 0; i < batch.size; ++i) {
      if (batch.labels[i] < 0 || batch.labels[i] >= options_.classes)
        throw BadDataset(fmt::format("{}: label {} in batch {}; expected 0 to {}", who(), batch.labels[i],
                                     batch.number, options_.classes - 1));
      const Listed& listed = list_[static_cast<size_t>(first + i) % list_.size()];
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
  std::vector<const Listed*> candidates(const Sampled& sampled) const {
    const Listed& own = list_[static_cast<size_t>(sampled.place) % list_.size()];
    if (misplaced_ == 0) return {&own};
    std::vector<const Listed*> alike;
    for (const Listed& listed : list_)
      if (listed.label == sampled.label && alike.size() < kMostAlike) alike.push_back(&listed);
    return alike;
  }

  void end_program() {
    if (pid_ <= 0) return;
    free_ = base::Descriptor();  // ring.py ends when it asks for a slot, and lets the adapter end its workers
    full_ = base::Descriptor();
    pollfd ended{ended_.number(), POLLIN, 0};
    ::poll(&ended, 1, int(std::chrono::milliseconds(kFarewell).count()));
    ::kill(-pid_, SIGKILL);  // the whole process group
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

  Storage& storage_;
  const LoaderOptions options_;
  const ExternalOptions external_;
  const std::filesystem::path folder_;
  const int64_t image_bytes_, labels_at_, time_at_, slot_bytes_;
  const std::vector<Listed> list_;
  base::Descriptor memory_file_, free_, full_, ended_;
  uint8_t* memory_ = nullptr;
  pid_t pid_ = 0;
  int64_t taken_ = 0, misplaced_ = 0, encoded_bytes_ = 0;
  std::vector<Sampled> samples_;
};

}  // namespace

std::unique_ptr<Loader> make_external_loader(Storage& storage, const LoaderOptions& options) {
  return std::make_unique<ExternalLoader>(storage, options);
}

}  // namespace bench
