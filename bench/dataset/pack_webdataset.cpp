// Packs into tars in webdataset's form: for each image NUMBER.jpg (or .png) and NUMBER.cls.
#ifdef HAVE_LIBARCHIVE
#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <stdexcept>

#include "bench/dataset/containers.h"
#include "bench/dataset/pack.h"
#include "bench/dataset/scan.h"
#include "bench/formats/packed_copy.h"
#include "bench/formats/shards.h"

namespace bench {
namespace {

class Tar {
 public:
  explicit Tar(const std::filesystem::path& file)
      : file_(file), writer_(archive_write_new(), archive_write_free) {
    archive_write_set_format_ustar(writer_.get());
    check(archive_write_open_filename(writer_.get(), file_.c_str()));
  }
  void add(const std::string& name, std::string_view content) {
    const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(),
                                                                         archive_entry_free);
    archive_entry_set_pathname(entry.get(), name.c_str());
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0644);
    check(archive_write_header(writer_.get(), entry.get()));
    check(archive_write_data(writer_.get(), content.data(), content.size()));
  }
  void close() { check(archive_write_close(writer_.get())); }

 private:
  void check(la_ssize_t result) const {
    if (result < ARCHIVE_OK)
      throw std::runtime_error(
          fmt::format("libarchive could not write {}: {}; free some space, and pack again", file_.string(),
                      archive_error_string(writer_.get())));
  }
  const std::filesystem::path file_;
  const std::unique_ptr<archive, int (*)(archive*)> writer_;
};

void write_tars(const Dataset& dataset, const std::filesystem::path& folder) {
  const Shards shards = shards_of(dataset);
  std::optional<Tar> tar;
  std::string encoded;
  for_each_image(dataset, "pack webdataset", [&](const OpenImage& image) {
    const auto& [record, entry, file, descriptor] = image;
    const int64_t shard = shards.holding(record);
    if (record == shards.start(shard)) tar.emplace(folder / fmt::format("train-{:06}.tar", shard));
    encoded.resize(static_cast<size_t>(entry.bytes));
    image.read_to(encoded.data());
    tar->add(fmt::format("{:08}{}", record, entry.path.ends_with(".png") ? ".png" : ".jpg"), encoded);
    tar->add(fmt::format("{:08}.cls", record), std::to_string(entry.label));
    if (record + 1 == shards.start(shard + 1)) tar->close();
  });
  // What the storage reads is found in the same way as in foreign tars.
  Dataset copy = dataset;
  copy.images.clear();
  copy.root = folder;
  const Containers found = containers_in(folder);
  Labels labels;
  add_images(copy, found, found.train, labels, std::nullopt);
  copy.classes = dataset.classes;
  write_index(copy, folder / kCopyIndex);
}

const bool registered_dataset_pack_webdataset =
    add_packer("webdataset", "tars of about 128 MiB in webdataset's form, in record order", 1, write_tars);

}  // namespace
}  // namespace bench
#endif
