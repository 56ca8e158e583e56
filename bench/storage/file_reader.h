// Reads image files below a folder; shared by the storages whose records are plain files.
#pragma once
#include <filesystem>
#include <memory>
#include <vector>

#include "bench/storage/storage.h"

namespace bench {

// An open file, or any descriptor, closed at the end of its life.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor();
  int number() const { return number_; }

 private:
  int number_;
};

// Record i is root / images[i].path. One per thread; `images` must outlive it.
class FileReader : public StorageReader {
 public:
  // Throws std::runtime_error with `next_step` when root can't be opened.
  FileReader(const std::filesystem::path& root, const std::vector<ImageEntry>& images, bool readahead,
             const std::string& next_step);
  EncodedImage read(int64_t record) override;

 private:
  std::filesystem::path root_;
  const std::vector<ImageEntry>& images_;
  bool readahead_;
  Descriptor folder_;
  std::unique_ptr<uint8_t[]> buffer_;
  size_t capacity_ = 0;
};

}  // namespace bench
