// read/<storage>/<cold|warm>: reads records as a loader thread does, in windowed order, without decoding. For
// comparison, read/plain_pread and read/plain_memcpy read the same images from one contiguous file. All of
// them sum the bytes, because a mapped record is only read when it is accessed.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "bench/loading/loader/sampler.h"
#include "bench/loading/storage/page_cache.h"
#include "bench/micro/images.h"
#include "bench/micro/sources.h"
#include "harness/base/file.h"

namespace bench {
namespace {

// Runs at about memory speed: one vectorised addition per 8 bytes.
uint64_t sum_of(std::span<const uint8_t> bytes) {
  uint64_t sum = 0;
  for (size_t i = 0; i + 8 <= bytes.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + i, 8);
    sum += word;
  }
  return sum;
}

// One iteration is one pass over all records. read(record) returns its bytes; before() prepares a pass and
// isn't timed.
template <class Before, class Read>
void measure(benchmark::State& state, int64_t records, const Before& before, const Read& read) {
  SamplerOptions options;
  options.records = records;
  options.order = Order::windowed;
  const Sampler sampler(options);
  int64_t bytes = 0, images = 0;
  double seconds = 0;
  for (auto _ : state) {
    before();
    const base::Stopwatch watch;
    for (int64_t i = 0; i < records; ++i) {
      const std::span<const uint8_t> image = read(sampler.at(i).record);
      bytes += static_cast<int64_t>(image.size());
      benchmark::DoNotOptimize(sum_of(image));
    }
    images += records;
    seconds += watch.s();
    state.SetIterationTime(watch.s());
  }
  count_images(state, images, static_cast<double>(bytes), seconds);
  state.counters["mb_per_second"] = static_cast<double>(bytes) / seconds * 1e-6;
}

void run(benchmark::State& state, Source& source, bool cold) {
  source.set_page_cache(cold);
  auto reader = source.storage().reader();
  const auto before = [&] {
    if (!cold) return;
    reader.reset();
    source.set_page_cache(true);
    reader = source.storage().reader();
  };
  measure(state, source.storage().size(), before, [&](int64_t record) { return reader->read(record).bytes; });
}

// The images of storage `files`, contiguous in an unnamed temporary file.
struct Flat {
  base::Descriptor file;
  std::vector<size_t> offsets{0};
  const uint8_t* mapped = nullptr;
  std::vector<uint8_t> buffer;

  Flat(Source& source, const std::filesystem::path& folder)
      : file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)) {
    if (file.number() < 0)
      throw std::runtime_error("name a writable folder for a copy of the images with --store DIR");
    const auto reader = source.storage().reader();
    size_t longest = 0;
    for (int64_t record = 0; record < source.storage().size(); ++record) {
      const auto bytes = reader->read(record).bytes;
      if (base::write_all(file.number(), bytes.data(), bytes.size()) != 0)
        throw std::runtime_error("not enough disk space or memory for a copy of the images");
      offsets.push_back(offsets.back() + bytes.size());
      longest = std::max(longest, bytes.size());
    }
    buffer.resize(longest);
    void* memory = ::mmap(nullptr, offsets.back(), PROT_READ, MAP_SHARED | MAP_POPULATE, file.number(), 0);
    if (memory == MAP_FAILED)
      throw std::runtime_error("not enough disk space or memory for a copy of the images");
    mapped = static_cast<const uint8_t*>(memory);
  }
  ~Flat() { ::munmap(const_cast<uint8_t*>(mapped), offsets.back()); }
  Flat(const Flat&) = delete;

  std::span<const uint8_t> read(int64_t record, bool copy) {
    const size_t from = offsets[record], size = offsets[record + 1] - from;
    if (copy)
      std::memcpy(buffer.data(), mapped + from, size);
    else if (::pread(file.number(), buffer.data(), size, static_cast<off_t>(from)) != ssize_t(size))
      throw std::runtime_error("pread failed");
    return {buffer.data(), size};
  }
};

void run_flat(benchmark::State& state, Source& files, const MicroOptions& options, bool copy) {
  Flat flat(files, options.store);
  measure(
      state, files.storage().size(), [] {}, [&](int64_t record) { return flat.read(record, copy); });
}

void add_read(const MicroOptions& options) {
  const auto add = [](const std::string& name, const auto& run) {
    add_benchmark(name, run)->Unit(benchmark::kMillisecond)->UseManualTime();
  };
  for (const auto& source : sources(options)) {
    if (source->name() == "synthetic") continue;  // generates batches, reads nothing
    for (const bool cold : {false, true}) {
      if (cold && !source->in_page_cache()) continue;
      add("read/" + source->name() + (cold ? "/cold" : "/warm"),
          [=](benchmark::State& state) { run(state, *source, cold); });
    }
    if (source->name() != "files" || options.store.empty()) continue;
    for (const bool copy : {false, true})
      add(copy ? "read/plain_memcpy" : "read/plain_pread",
          [=](benchmark::State& state) { run_flat(state, *source, options, copy); });
  }
}

[[maybe_unused]] const bool added_read = add_family(add_read);

}  // namespace
}  // namespace bench
