// load/<storage>/<output>/threads:<N>: from storage to finished batch, with a warm page cache. The calling
// thread only takes and releases batches; run it on an idle machine.
#include <benchmark/benchmark.h>

#include "bench/loading/loader/loader.h"
#include "bench/micro/images.h"
#include "bench/micro/sources.h"

namespace bench {
namespace {

constexpr int64_t kBatch = 64;
constexpr int kLoadedPx = 224;

void run(benchmark::State& state, Source& source, const std::string& output, int threads) {
  source.set_page_cache(false);
  Storage& storage = source.storage();
  LoaderOptions options;
  options.batch_size = kBatch;
  options.image_px = kLoadedPx;
  options.threads = threads;
  options.classes = source.classes();
  options.format = batch_format(output);
  options.sampler.records = storage.size();
  options.sampler.order = Order::windowed;  // supported by every storage
  const auto loader = make_loader(storage, options);
  loader->start();
  for (int i = 0; i < options.ring_depth; ++i)
    loader->release(loader->next());  // loaded before timing starts
  const LoaderStats before = loader->stats();
  int64_t images = 0;
  double read_ms = 0, decode_ms = 0;
  const base::Stopwatch watch;
  for (auto _ : state) {
    const Batch batch = loader->next();
    images += batch.size;
    read_ms += batch.read_ms;
    decode_ms += batch.decode_ms;
    loader->release(batch);
  }
  const double seconds = watch.s();
  const double bytes_per_image = static_cast<double>(loader->stats().encoded_bytes - before.encoded_bytes) /
                                 static_cast<double>(loader->stats().images - before.images);
  const bool encoded = !storage.generates_batches();
  count_images(state, images, encoded ? static_cast<double>(images) * bytes_per_image : 0, seconds);
  if (encoded) {
    state.counters["read_us"] = read_ms * 1e3 / static_cast<double>(images);
    state.counters["decode_us"] = decode_ms * 1e3 / static_cast<double>(images);
  }
  if (storage.used() != source.name()) state.SetLabel(storage.used());
}

void add_load(const MicroOptions& options) {
  for (const auto& source : sources(options))
    for (const std::string output : {"float32", "uint8"})
      for (const int threads : thread_counts()) {
        const std::string name =
            "load/" + source->name() + "/" + output + "/threads:" + std::to_string(threads);
        add_benchmark(name, [=](benchmark::State& state) {
          run(state, *source, output, threads);
        })->Unit(benchmark::kMillisecond);
      }
}

[[maybe_unused]] const bool added_load = add_family(add_load);

}  // namespace
}  // namespace bench
