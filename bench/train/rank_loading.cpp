// Translates a row's fields into options of sampler, storage and loader for this rank's share.
#include "bench/train/rank_loading.h"

#include <algorithm>

#include "bench/formats/shards.h"
#include "bench/loading/storage/page_cache.h"

namespace bench {

// Divides the node's loader threads among its ranks: low ranks get the remainder, each rank at least one (0
// stays 0).
static int loader_threads_of(const harness::Row& row, const RankInfo& rank) {
  if (row.loader_threads == 0) return 0;
  const int64_t share = row.loader_threads / rank.local_world_size;
  return int(std::max<int64_t>(1, share + (rank.local_rank < row.loader_threads % rank.local_world_size)));
}

// Of the cores that the node's loader threads are pinned to.
static int first_loader_core(const harness::Row& row, const RankInfo& rank) {
  const int64_t share = row.loader_threads / rank.local_world_size;
  return int(share == 0 ? rank.local_rank
                        : rank.local_rank * share +
                              std::min<int64_t>(rank.local_rank, row.loader_threads % rank.local_world_size));
}

namespace {

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
  const int threads = loader_threads_of(row_, rank_);
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
  options_.first_core = first_loader_core(row_, rank_);
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
  } catch (const std::runtime_error& error) {
    throw BadDataset(error.what());
  }
  if (counts_) storage_ = kept_cold(std::move(storage_), records_, rank_.local_world_size, *counts_);
  storage_ = throttled(std::move(storage_), harness::read_rate_here(row_) / double(rank_.local_world_size),
                       harness::read_latency_here_ms(row_));
}

}  // namespace bench
