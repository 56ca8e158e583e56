// load/<storage>/<output>/threads:<N>: the whole chain from storage to finished batch, page cache warm.
// The calling thread only takes and releases batches; nobody else should be working.
#include <benchmark/benchmark.h>

#include <memory>
#include <thread>

#include "bench/loader/loader.h"
#include "bench/micro/images.h"
#include "bench/micro/options.h"

namespace bench {
namespace {

constexpr int64_t kImages = 2048, kBatch = 64;
constexpr int kSide = 224;

// Some records of another storage, numbered from 0.
class Subset : public Storage {
 public:
  Subset(std::unique_ptr<Storage> storage, std::vector<int64_t> records)
      : storage_(std::move(storage)), records_(std::move(records)) {}
  int64_t size() const override { return static_cast<int64_t>(records_.size()); }
  std::string used() const override { return storage_->used(); }
  bool generates_batches() const override { return storage_->generates_batches(); }
  std::string record_name(int64_t record) const override { return storage_->record_name(records_[record]); }
  std::unique_ptr<StorageReader> reader() override {
    return std::make_unique<Reader>(storage_->reader(), records_);
  }

 private:
  struct Reader : StorageReader {
    Reader(std::unique_ptr<StorageReader> reader, const std::vector<int64_t>& records)
        : reader_(std::move(reader)), records_(records) {}
    EncodedImage read(int64_t record) override {
      return reader_->read(records_[static_cast<size_t>(record)]);
    }
    std::unique_ptr<StorageReader> reader_;
    const std::vector<int64_t>& records_;
  };

  std::unique_ptr<Storage> storage_;
  const std::vector<int64_t> records_;
};

// Storages opened so far: the same one serves every thread count.
struct Source {
  MicroOptions options;
  std::string name;
  bool packed = false;
  std::unique_ptr<Storage> storage;
  int64_t classes = 1;

  Storage& open() {
    if (storage) return *storage;
    const Dataset dataset = scan_dataset(options.data);
    classes = static_cast<int64_t>(dataset.classes.size());
    StorageOptions settings{dataset, "", true, even_sample(dataset, kImages)};
    if (packed && !options.store.empty()) settings.location = options.store / dataset.fingerprint / name;
    if (packed && !std::filesystem::exists(settings.location)) settings.location = "";
    storage = std::make_unique<Subset>(StorageRegistry::instance().find(name)(settings), settings.records);
    if (!storage->generates_batches()) {
      const auto reader = storage->reader();  // warms the page cache
      for (int64_t record = 0; record < storage->size(); ++record) {
        const auto bytes = reader->read(record).bytes;
        for (size_t i = 0; i < bytes.size(); i += 4096) benchmark::DoNotOptimize(bytes[i]);
      }
    }
    return *storage;
  }
};

void run(benchmark::State& state, Source& source, int threads) {
  try {
    Storage& storage = source.open();
    LoaderOptions options;
    options.batch_size = kBatch;
    options.image_px = kSide;
    options.threads = threads;
    options.classes = source.classes;
    options.sampler.records = storage.size();
    const auto loader = make_loader(storage, options);
    loader->start();
    for (int i = 0; i < options.ring_depth; ++i)
      loader->release(loader->next());  // made before the clock runs
    const LoaderStats before = loader->stats();
    int64_t images = 0;
    double read_ms = 0, decode_ms = 0;
    const Stopwatch watch;
    for (auto _ : state) {
      const Batch batch = loader->next();
      images += batch.size;
      read_ms += batch.read_ms;
      decode_ms += batch.decode_ms;
      loader->release(batch);
    }
    const double seconds = watch.seconds();
    const double bytes_per_image = static_cast<double>(loader->stats().encoded_bytes - before.encoded_bytes) /
                                   static_cast<double>(loader->stats().images - before.images);
    state.counters["images_per_second"] = static_cast<double>(images) / seconds;
    if (!storage.generates_batches()) {
      state.counters["ns_per_encoded_byte"] = seconds * 1e9 / (static_cast<double>(images) * bytes_per_image);
      state.counters["read_us"] = read_ms * 1e3 / static_cast<double>(images);
      state.counters["decode_us"] = decode_ms * 1e3 / static_cast<double>(images);
    }
    if (storage.used() != source.name) state.SetLabel(storage.used());
  } catch (const std::exception& error) {
    state.SkipWithError(error.what());
  }
}

void add(const MicroOptions& options) {
  if (options.data.empty()) return;
  for (const Value& value : registered_values()) {
    if (value.axis != "storage") continue;
    const auto source = std::make_shared<Source>();
    source->options = options;
    source->name = value.name;
    source->packed = value.traits.value("packed", false);
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    std::vector<int> counts;
    for (int threads = 1; threads < cores; threads *= 2) counts.push_back(threads);
    counts.push_back(cores);
    for (const int threads : counts) {
      const std::string name = "load/" + value.name + "/float32/threads:" + std::to_string(threads);
      benchmark::RegisterBenchmark(name.c_str(), [source, threads](benchmark::State& state) {
        run(state, *source, threads);
      })->Unit(benchmark::kMillisecond);
    }
  }
}

[[maybe_unused]] const bool added = add_family(add);

}  // namespace
}  // namespace bench
