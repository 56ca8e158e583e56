// Packed copies of a data set in the format that a storage reads. Each packer is a file pack_<name>.cpp.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/formats/index.h"
#include "bench/registry/registry.h"
#include "harness/base/file.h"
#include "harness/base/file_lock.h"

namespace bench {

struct PackRequest {
  Dataset dataset;               // record i of the copy is dataset.images[i]
  std::filesystem::path folder;  // STORE/<fingerprint>, exists
};

struct PackResult {
  std::filesystem::path location;  // for StorageOptions::location; empty: not packed, `note` says why
  std::string note;
  std::optional<double> made_in_s = {};  // time that making the copy took, now or earlier, if that is known
};

// Does nothing if a finished copy exists; an unfinished copy never has the final name. Throws
// std::runtime_error with the next step, or base::Interrupted.
using Pack = std::function<PackResult(const PackRequest&)>;
using PackRegistry = Registry<Pack>;

// Held while a copy is made, so that processes that need the same copy wait for each other.
base::FileLock lock_to_pack(const std::filesystem::path& folder);

// Makes the folder STORE/<fingerprint>/<name>; write(folder) fills it under a temporary name, and its files
// are flushed to the disk. A copy is finished if its record has the same format version, data set and number
// of images; otherwise it is packed again (a changed format version is reported on stderr). bytes: expected
// size, checked against the free disk space first.
PackResult pack_into_folder(const PackRequest& request, const std::string& name, int version, int64_t bytes,
                            const std::function<void(const std::filesystem::path& folder)>& write);

// At most what a copy of the images as they are takes in any of these formats. LMDB takes the most: whole
// pages of 4 KiB per image, with a header, and its B+ tree.
int64_t packed_bytes(const Dataset& dataset);

// Registers a packer of such copies, which calls pack_into_folder(). copy: the copy's name if it isn't
// `name`.
bool add_packer(const std::string& name, const std::string& summary, int version,
                void (*write)(const Dataset&, const std::filesystem::path& folder),
                const std::string& copy = "");

// Reads exactly `bytes` bytes of an image's file into `target`; throws std::runtime_error that names `file`.
void read_fully(int descriptor, void* target, int64_t bytes, const std::filesystem::path& file);

// An image whose file is open where its bytes begin.
struct OpenImage {
  int64_t record;
  const ImageEntry& entry;
  std::filesystem::path file;
  int descriptor;
  void read_to(void* target) const { read_fully(descriptor, target, entry.bytes, file); }
};
// Opens each image of the data set in order, calls store(image) and reports progress. Throws
// std::runtime_error if a file is missing or its size differs from the index.
void for_each_image(const Dataset& dataset, const std::string& what,
                    const std::function<void(const OpenImage& image)>& store);

// A new file of a copy. Throws std::runtime_error that names it, as base::throw_write_error().
class NewFile {
 public:
  explicit NewFile(const std::filesystem::path& file);
  void append(const void* data, size_t bytes);
  int64_t bytes() const { return bytes_; }  // those that were appended
  int descriptor() const { return descriptor_.number(); }

 private:
  std::filesystem::path file_;
  base::Descriptor descriptor_;
  int64_t bytes_ = 0;
};

// pack_tmpfs.cpp: those of /dev/shm and /tmp that are a tmpfs, in this order, writable or not.
std::vector<std::filesystem::path> mounted_tmpfs();

// Copies to the first of the mounts that is writable and has room. If none has, the result has no location
// and the note lists why. Throws std::runtime_error if too little memory is available.
PackResult pack_to_memory(const PackRequest& request, const std::vector<std::filesystem::path>& mounts);

}  // namespace bench
