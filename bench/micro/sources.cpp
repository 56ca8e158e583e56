// Opens each storage with at most 2,048 evenly spread images, and sets the state of the page cache.
#include "bench/micro/sources.h"

#include <algorithm>

#include "bench/dataset/pack.h"
#include "bench/dataset/scan.h"
#include "bench/loading/storage/page_cache.h"
#include "bench/micro/images.h"
#include "harness/base/file.h"

namespace bench {
namespace {

constexpr int64_t kImages = 2048;

// A subset of the records of another storage, numbered from 0.
class Subset : public StorageAround {
 public:
  Subset(std::unique_ptr<Storage> storage, const std::vector<int64_t>& records)
      : StorageAround(std::move(storage)), records_(records) {}
  int64_t size() const override { return static_cast<int64_t>(records_.size()); }
  std::string record_name(int64_t record) const override { return storage_->record_name(records_[record]); }
  std::vector<std::filesystem::path> cached_files(const std::vector<int64_t>&) const override {
    return storage_->cached_files(records_);
  }
  std::unique_ptr<StorageReader> reader() override {
    return reader_with([this, reader = storage_->reader()](int64_t record) {
      return reader->read(records_[static_cast<size_t>(record)]);
    });
  }

 private:
  const std::vector<int64_t> records_;
};

std::filesystem::path packed(const std::string& name, const Dataset& dataset, const MicroOptions& options) {
  PackRequest request;
  request.dataset = dataset;
  request.folder = options.store / dataset.fingerprint;
  base::make_folder(request.folder);
  const PackResult result = PackRegistry::instance().find(name)(request);
  if (result.location.empty() && name != "tmpfs") throw std::runtime_error(result.note);
  return result.location;
}

}  // namespace

Storage& Source::storage() {
  if (storage_) return *storage_;
  const Dataset dataset = scan_dataset(options_.data);
  classes_ = static_cast<int64_t>(dataset.classes.size());
  records_ = even_sample(dataset, kImages);
  StorageOptions settings{dataset, "", true, records_};
  if (value_.traits.packed.value_or(false)) {
    base::make_folder(options_.store);
    in_use_ = std::make_unique<harness::CopiesInUse>(options_.store / dataset.fingerprint);
    settings.location = packed(name(), dataset, options_);
  }
  if (value_.traits.transient.value_or(false) && !settings.location.empty() && !copy_)
    copy_ = std::make_unique<harness::TransientCopy>(settings.location);
  storage_ = std::make_unique<Subset>(StorageRegistry::instance().find(name())(settings), records_);
  return *storage_;
}

void Source::set_page_cache(bool cold) {
  const FileList files = storage().cached_files(records_);
  storage_.reset();
  if (cold)
    drop_from_page_cache(files);
  else
    read_into_page_cache(files);
}

std::vector<std::shared_ptr<Source>> sources(const MicroOptions& options) {
  std::vector<std::shared_ptr<Source>> all;
  if (options.data.empty()) return all;
  for (const Value& value : registered_values())
    if (value.axis == "storage" && value.missing.empty() && value.traits.service.empty() &&
        (!options.store.empty() || !value.traits.packed.value_or(false)))
      all.push_back(std::make_shared<Source>(options, value));
  return all;
}

}  // namespace bench
