// Image files, or images within larger files, read through the page cache. A reader opens relative to the
// folder, reads into a reused buffer and closes: few system calls and no path building per image.
#include "bench/loading/storage/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace bench {

FileReader::FileReader(const std::filesystem::path& root, const std::vector<ImageEntry>& images,
                       bool readahead, const std::string& next_step)
    : root_(root),
      images_(images),
      readahead_(readahead),
      folder_(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (folder_.number() < 0)
    throw std::runtime_error(
        fmt::format("can't open the folder {}: {}; {}", root.string(), std::strerror(errno), next_step));
}

EncodedImage FileReader::read(int64_t record) {
  const ImageEntry& image = images_.at(static_cast<size_t>(record));
  const auto fail = [&](const std::string& why) {
    throw std::runtime_error(fmt::format("can't read {}: {}", (root_ / image.path).string(), why));
  };
  const bool in_file = image.offset >= 0;
  const base::RegularFile file =
      base::RegularFile::open((in_file ? image.file() : image.path).c_str(), folder_.number());
  if (!file.is_open()) fail(file.why);
  if ((in_file ? image.bytes : file.bytes) > kMostImageBytes) fail("larger than 128 MiB");
  const int descriptor = file.descriptor.number();
  if (!readahead_) ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_RANDOM);
  if (in_file && ::lseek(descriptor, image.offset, SEEK_SET) < 0) fail(std::strerror(errno));
  const size_t size = static_cast<size_t>(in_file ? image.bytes : file.bytes);
  if (buffer_.size() < size) buffer_.resize(size);
  const int64_t read = base::read_all(descriptor, buffer_.data(), size);
  if (read < 0) fail(std::strerror(errno));
  return {{buffer_.data(), static_cast<size_t>(read)}, image.label};  // decoding fails if the file shrank
}

namespace {

class Files : public DatasetStorage {
 public:
  Files(const std::string& name, const Dataset& dataset, bool readahead)
      : DatasetStorage(name, dataset), readahead_(readahead) {
    reader();
  }

  std::unique_ptr<StorageReader> reader() override {
    return std::make_unique<FileReader>(dataset_.root, dataset_.images, readahead_,
                                        "name the folder that holds train/ with --data");
  }

  std::vector<std::filesystem::path> cached_files(const std::vector<int64_t>& records) const override {
    return dataset_.files_of(records);
  }

 private:
  const bool readahead_;
};

[[maybe_unused]] const bool registered_storage_files = StorageRegistry::instance().add(
    {"storage", "files", "image files on disk; page cache as set by `cache`"},
    [](const StorageOptions& options) { return files_in_place("files", options); });

}  // namespace

std::unique_ptr<Storage> files_in_place(const std::string& name, const StorageOptions& options) {
  return std::make_unique<Files>(name, options.dataset, options.readahead);
}

}  // namespace bench
