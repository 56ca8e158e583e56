// Reads image files below a folder; used by the storages whose records are plain files.
#pragma once
#include <filesystem>
#include <memory>
#include <vector>

#include "bench/loading/storage/storage.h"
#include "harness/base/file.h"

namespace bench {

// Record i is root / images[i].path, or a part of such a file. One per thread; `images` must outlive it.
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
  base::Descriptor folder_;
  std::vector<uint8_t> buffer_;
};

// A storage that reads the images of options.dataset, the user's own files, with a FileReader; `name` is that
// of the storage that the row asked for.
std::unique_ptr<Storage> files_in_place(const std::string& name, const StorageOptions& options);

}  // namespace bench
