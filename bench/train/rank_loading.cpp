// Translates a row's fields into options of sampler, storage and loader for this rank's share.
#include "bench/train/rank_loading.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "bench/formats/shards.h"
#include "bench/loading/storage/page_cache.h"

namespace bench {

namespace {

// Divides the node's loader threads among its ranks: low ranks get the remainder, each rank at least one (0
// stays 0).
struct ThreadShare {
  ThreadShare(int64_t all, int64_t rank, int64_t ranks) {
    const int64_t share = all / ranks, more = all % ranks;
    count = all == 0 ? 0 : int(std::max<int64_t>(1, share + (rank < more)));
    first_core = int(share == 0 ? rank : rank * share + std::min(rank, more));
  }
  int count, first_core;  // of the cores that the node's loader threads are pinned to
};

// For rows that only read: of an image it reads the header, and it writes no pixels.
class NoDecoding : public Decoder {
  void crop(const EncodedImage&, const Augmentation&, int, BatchFormat, void*) override {}
};

}  // namespace

RankLoading::RankLoading(const harness::Job& job, const Dataset& dataset, const RankInfo& rank, int64_t batch,
                         Accelerator* accelerator)
    : job_(job), dataset_(dataset), rank_(rank) {
  SamplerOptions order{int64_t(dataset_.images.size()), record_order(row_.order), uint64_t(row_.seed),
                       rank_.rank, rank_.world_size};
  order.shards = shards_of(dataset_).count;
  order.interleave = row_.interleave;
  order.window = row_.shuffle_window;
  if (row_.cache == "cold" && row_.order == "shuffled" && job_.server_counter.empty()) counts_.emplace();
  const ThreadShare mine(row_.loader_threads, rank_.local_rank, rank_.local_world_size);
  const int threads = mine.count;
  records_ = Sampler(order).records_of_first(
      (harness::batches_of_slice(row_, threads) + harness::unread_batches_of_ceiling(row_, threads)) * batch);
  open_storage();
  options_.batch_size = batch;
  options_.image_px = row_.image_px;
  options_.threads = threads;
  options_.handing_over = handing_over(row_.handing_over);
  options_.ring_depth = int(row_.ring_depth);
  options_.format = batch_format(row_.batch_format);
  options_.pin_threads = row_.pin_loader_threads;
  options_.first_core = mine.first_core;
  options_.sampler = order;
  options_.classes = row_.classes;
  options_.images_per_s = harness::loader_images_per_s(row_) / rank_.local_world_size;
  options_.background = harness::emulates_cores(row_);
  if (accelerator) {
    if (HostAllocator pinned = accelerator->host_allocator())
      (row_.pin_thread ? options_.copy_to : options_.allocate) = std::move(pinned);
    if (row_.decoder != "cpu") options_.decoding = accelerator->decoding(row_.decoder);
  }
  if (row_.part ==
      "reading") {  // alone: no other decoder, no emulated cores' time, no copy of what isn't made
    options_.decoding = {};
    options_.decoding.make_decoder = [] { return std::make_unique<NoDecoding>(); };
    options_.images_per_s = 0;
    options_.copy_to = {};
  }
  if (harness::has_external_loader(row_)) {
    for (const ImageEntry& image : dataset_.images)
      if (image.offset >= 0)
        throw BadDataset("external loaders are given files of single images, but '" + image.path +
                         "' lies within a larger file; next: extract it, or set loader=suite");
    ExternalOptions& external = options_.external.emplace();
    external.command = job_.loader_command;
    external.folder = job_.directory;
    external.images = (row_.warmup_batches + row_.timed_batches) * batch;
    external.classes = int64_t(dataset_.classes.size());
    external.start_s = job_.loader_start_s;
    external.silence_s = job_.loader_silence_s;
    external.hands_over = row_.loader == "external";
    external.compares_pixels = external.hands_over && row_.compare_pixels;
  }
  open_loader();
}

Loader& RankLoading::open_loader() {
  loader_ = make_loader(*storage_, options_);
  return *loader_;
}

bool RankLoading::cache_is_again_as_before_the_slice(Group& group) {
  if (row_.cache != "cold") return true;
  if (!job_.server_counter.empty()) return false;
  storage_.reset();
  group.barrier();
  open_storage();
  drop_from_page_cache(storage_->cached_files(records_));
  drop_metadata();
  options_.first_batch = harness::batches_of_slice(row_, options_.threads);
  return true;
}

void RankLoading::open_storage() {
  const auto packed = job_.packed.find(row_.storage);
  const std::string location = packed == job_.packed.end() ? "" : packed->second;
  if (!location.empty()) options_.next_step = pack_again(row_.storage, location);
  try {
    const ReadingStorage marked;
    storage_ = StorageRegistry::instance().find(row_.storage)({dataset_, location, row_.readahead, records_});
    if (counts_) storage_ = kept_cold(std::move(storage_), records_, rank_.local_world_size, *counts_);
  } catch (const std::filesystem::filesystem_error& error) {
    throw BadDataset(
        fmt::format("{}: {}; {}", error.path1().string(), error.code().message(), options_.next_step));
  } catch (const std::runtime_error& error) {
    throw BadDataset(error.what());
  }
  storage_ = throttled(std::move(storage_), harness::read_rate_here(row_) / double(rank_.local_world_size),
                       harness::read_latency_here_ms(row_));
}

}  // namespace bench
