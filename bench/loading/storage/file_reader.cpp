// Opens relative to the folder, reads into a reused buffer, closes: few system calls and no path building per
// image.
#include "bench/loading/storage/file_reader.h"

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

}  // namespace bench
