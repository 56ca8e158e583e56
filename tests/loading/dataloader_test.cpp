// unit: handing_over dataloader: the ring's batches, two per thread ahead, each made by one thread, prompt
// ends; the thread that copies batches into other memory
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <set>

#include "tests/support/failure_of.h"
#include "tests/support/loaded_batches.h"

namespace bench::dataloader_test {

LoaderOptions with_dataloader(LoaderOptions options) {
  options.handing_over = HandingOver::dataloader;
  return options;
}

// A storage that notes which thread read each record.
class WatchedStorage : public StorageAround {
 public:
  explicit WatchedStorage(std::unique_ptr<Storage> storage) : StorageAround(std::move(storage)) {}
  std::unique_ptr<StorageReader> reader() override {
    return reader_with([this, reader = storage_->reader()](int64_t record) {
      {
        const std::lock_guard lock(mutex_);
        readers_[record].insert(std::this_thread::get_id());
      }
      return reader->read(record);
    });
  }
  std::map<int64_t, std::set<std::thread::id>> readers() const {
    const std::lock_guard lock(mutex_);
    return readers_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<int64_t, std::set<std::thread::id>> readers_;
};

TEST(DataLoader, BatchesAreTheRingsForAnyThreadCount) {
  const auto [folder, dataset, storage] = StoredImages(31);
  const auto expected = load(*storage, options_for(dataset, 2), 23);  // over four epochs
  for (int threads : {0, 1, 2, 3, 5})
    EXPECT_EQ(load(*storage, with_dataloader(options_for(dataset, threads)), 23), expected) << threads;
  LoaderOptions second = options_for(dataset, 3);
  second.sampler.rank = 1;
  second.sampler.world_size = 2;
  EXPECT_EQ(load(*storage, with_dataloader(second), 9), load(*storage, second, 9));
}

TEST(DataLoader, IsTwoBatchesPerThreadAheadOfThoseHandedOver) {
  const auto [folder, dataset, storage] = StoredImages(12);
  const LoaderOptions options = with_dataloader(options_for(dataset, 3));  // ring_depth 3 counts for nothing
  const auto loader = started(*storage, options);
  EXPECT_EQ(settled(*loader), 6);
  EXPECT_EQ(loader->stats().images, 6 * 6);
  const Batch first = loader->next();
  const Copy before = copy_of(first, options);
  EXPECT_EQ(settled(*loader), 6) << "handing over lets the next one begin, also before release()";
  EXPECT_EQ(copy_of(first, options), before) << "not written again before release()";
  const Batch second = loader->next();
  EXPECT_EQ(settled(*loader), 5) << "one buffer more than are ahead";
  EXPECT_EQ(copy_of(first, options), before);
  loader->release(first);
  EXPECT_EQ(settled(*loader), 6);
  loader->release(second);
  EXPECT_EQ(settled(*loader), 6) << "releasing alone begins nothing";
  EXPECT_EQ(loader->stats().images, 8 * 6);
  const int64_t image_bytes = bytes_per_image(options.format, options.image_px);
  EXPECT_EQ(loader->stats().buffer_bytes, 7 * 6 * (image_bytes + 8));
}

TEST(DataLoader, OneThreadMakesAWholeBatch) {
  const TemporaryFolder folder;
  const Dataset dataset = small_dataset(folder.path(), 24);
  WatchedStorage storage(open_storage("files", {dataset, "", true, {}}));
  LoaderOptions options = with_dataloader(options_for(dataset, 2));
  options.sampler.order = Order::in_order;
  const auto loader = started(storage, options);
  ASSERT_EQ(settled(*loader), 4);  // batches of six: the whole epoch
  const auto readers = storage.readers();
  ASSERT_EQ(readers.size(), 24u);
  for (const auto& [record, threads] : readers) {
    EXPECT_EQ(threads.size(), 1u) << record;
    EXPECT_EQ(threads, readers.at(record / 6 % 2 * 6)) << record << ": batch n by thread n % 2";
  }
  EXPECT_NE(readers.at(0), readers.at(6));
}

TEST(DataLoader, AnErrorOfAThreadReachesNextAndEndsAllThreads) {
  const auto [folder, dataset, storage] = StoredImages(12);
  for (const HandingOver handing_over : {HandingOver::ring, HandingOver::dataloader})
    for (const bool copying : {false, true})
      for (int threads : {1, 4}) {
        LoaderOptions options = options_for(dataset, threads);
        options.handing_over = handing_over;
        if (copying) options.copy_to = BatchBuffer::on_heap;
        options.classes = 1;
        EXPECT_SAYS(failure_to_load(*storage, options, 4), "the model has 1 classes");
      }
}

TEST(DataLoader, EndsPromptlyWhenFullHeldOrUnstarted) {
  const auto [folder, dataset, storage] = StoredImages(12);
  const LoaderOptions options = with_dataloader(options_for(dataset, 4));
  { const auto unstarted = make_loader(*storage, options); }
  {
    const auto full = started(*storage, options);
    settled(*full);
  }
  {
    const auto held = started(*storage, options);
    for (int i = 0; i < 9; ++i) held->next();  // all buffers
  }
  { const auto at_work = started(*storage, options); }
}

// Memory of the copies, to tell it from that of the loader's threads.
struct CountedCopies {
  std::set<const void*> memory;
  HostAllocator allocator() {
    return [this](size_t bytes) {
      auto given = BatchBuffer::on_heap(bytes);
      memory.insert(given.get());
      return given;
    };
  }
};

TEST(CopyingThread, HandsOverTheSameBatchesInOtherMemory) {
  const auto [folder, dataset, storage] = StoredImages(31);
  const auto expected = load(*storage, options_for(dataset, 2), 23);
  for (const bool whole : {false, true})
    for (int threads : {0, 1, 3}) {
      CountedCopies copies;
      LoaderOptions options = options_for(dataset, threads);
      if (whole) options = with_dataloader(options);
      options.copy_to = copies.allocator();
      EXPECT_EQ(load(*storage, options, 23), expected) << threads << whole;
      const auto loader = started(*storage, options);
      const Batch batch = loader->next();
      EXPECT_TRUE(copies.memory.count(batch.images));
      EXPECT_TRUE(copies.memory.count(batch.labels));
    }
}

TEST(CopyingThread, LetsNoMoreBatchesBeAheadAndNeedsTwiceTheMemory) {
  const auto [folder, dataset, storage] = StoredImages(12);
  LoaderOptions options = with_dataloader(options_for(dataset, 3));
  options.copy_to = BatchBuffer::on_heap;
  const auto loader = started(*storage, options);
  EXPECT_EQ(settled(*loader), 6);
  EXPECT_EQ(loader->stats().images, 6 * 6);
  const int64_t image_bytes = bytes_per_image(options.format, options.image_px);
  EXPECT_EQ(loader->stats().buffer_bytes, 2 * 7 * 6 * (image_bytes + 8));
}

TEST(DataLoader, TheFieldsNamesAreTheModes) {
  EXPECT_EQ(handing_over("ring"), HandingOver::ring);
  EXPECT_EQ(handing_over("dataloader"), HandingOver::dataloader);
  EXPECT_THROW(handing_over("queue"), std::invalid_argument);
}

}  // namespace bench::dataloader_test
