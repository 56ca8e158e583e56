// Shared by all packers: reads the files in index order and detects files that changed.
#include "bench/dataset/pack.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "bench/dataset/progress_line.h"
#include "bench/formats/packed_copy.h"
#include "harness/base/file.h"
#include "harness/base/interrupt.h"
#include "harness/base/say.h"
#include "harness/base/stopwatch.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

bool finished(const fs::path& folder, const PackRecord& expected) {
  auto found = fs::is_directory(folder) ? read_pack_record(folder) : std::nullopt;
  if (found) found->made_in_s.reset();  // copies are the same even if making one took longer
  return found == expected;
}

void say_format_changed(const fs::path& folder, const PackRecord& expected) {
  const auto found = read_pack_record(folder);
  if (!found || found->version == expected.version) return;
  base::say("make_dataset: {} was packed in format {} and this version reads format {}: packing it again\n",
            folder.string(), found->version, expected.version);
}

// A copy must not get its name before its files are on the disk: after a power cut it would look finished.
void flush_files(const fs::path& folder) {
  for (const fs::path& file : base::entries_of(folder)) {
    const base::RegularFile opened = base::RegularFile::open(file.c_str());
    if (!opened.is_open()) base::throw_write_error(file, opened.error);
    if (::fsync(opened.descriptor.number()) != 0) base::throw_write_error(file, errno);
  }
}

}  // namespace

base::FileLock lock_to_pack(const fs::path& folder) {
  return base::FileLock::on_current(folder.string() +
                                    std::string(kPackLock));  // `make_dataset prune` removes the file
}

PackResult pack_into_folder(const PackRequest& request, const std::string& name, int version, int64_t bytes,
                            const std::function<void(const fs::path&)>& write) {
  const fs::path folder = request.folder / name;
  const fs::path partial = folder.string() + ".partial";
  PackRecord record{version, request.dataset.fingerprint, int64_t(request.dataset.images.size()),
                    request.dataset.total_bytes()};
  const fs::path beside = folder.string() + std::string(kPackRecord);
  const auto made_before = [&] {
    return PackResult{folder, "already packed", read_pack_record(folder)->made_in_s};
  };
  if (finished(folder, record)) return made_before();
  const base::FileLock lock = lock_to_pack(folder);
  if (finished(folder, record)) return made_before();  // by another process meanwhile
  say_format_changed(folder, record);
  fs::remove_all(partial);
  fs::remove_all(folder);
  base::require_room(request.folder, bytes, "packing to " + name);
  base::make_folder(partial);
  try {
    const base::Stopwatch watch;
    write(partial);
    flush_files(partial);
    record.made_in_s = watch.s();
    base::write_whole_file(beside, harness::encode(record).dump() + "\n");
    fs::rename(partial, folder);
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(partial, ignored);
    throw;
  }
  base::sync_folder(request.folder);
  return {folder, fmt::format("packed {} images", request.dataset.images.size()), record.made_in_s};
}

int64_t packed_bytes(const Dataset& dataset) {
  constexpr int64_t kPerImage = 4096 + 512, kPerCopy = 4 << 20;
  int64_t bytes = 0;
  for (const auto& image : dataset.images)
    bytes += image.bytes + static_cast<int64_t>(image.path.size()) + kPerImage;
  return bytes + bytes / 50 + kPerCopy;
}

bool add_packer(const std::string& name, const std::string& summary, int version,
                void (*write)(const Dataset&, const fs::path&), const std::string& copy) {
  return PackRegistry::instance().add({"pack", name, summary}, [=](const PackRequest& request) {
    return pack_into_folder(request, copy.empty() ? name : copy, version, packed_bytes(request.dataset),
                            [&](const fs::path& folder) { write(request.dataset, folder); });
  });
}

void for_each_image(const Dataset& dataset, const std::string& what,
                    const std::function<void(const OpenImage&)>& store) {
  const auto total = static_cast<int64_t>(dataset.images.size());
  ProgressLine progress(what, total);
  int64_t bytes = 0;
  for (int64_t record = 0; record < total; ++record) {
    base::stop_if_interrupted();
    const auto& image = dataset.images[record];
    const auto file = dataset.root / image.file();
    const base::RegularFile opened = base::RegularFile::open(file.c_str());
    if (!opened.is_open())
      throw std::runtime_error(fmt::format(
          "cannot open {}: {}; {}", file.string(), opened.why,
          opened.error == EACCES ? "make it readable, or move it away" : "run `make_dataset index` again"));
    if (image.offset < 0 ? opened.bytes != image.bytes
                         : ::lseek(opened.descriptor.number(), image.offset, SEEK_SET) != image.offset)
      throw std::runtime_error(
          fmt::format("the size of {} is no longer the {} bytes in the index; run `make_dataset index` again",
                      file.string(), image.bytes));
    store({record, image, file, opened.descriptor.number()});
    progress.update(record + 1, bytes += image.bytes);
  }
}

void read_fully(int descriptor, void* target, int64_t bytes, const std::filesystem::path& file) {
  const int64_t read = base::read_all(descriptor, target, static_cast<size_t>(bytes));
  if (read != bytes)
    throw std::runtime_error(
        fmt::format("cannot read {}: {}; check the disk and run `make_dataset index` again", file.string(),
                    read < 0 ? std::strerror(errno) : "unexpected end of file"));
}

NewFile::NewFile(const fs::path& file)
    : file_(file), descriptor_(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
  if (descriptor_.number() < 0) base::throw_write_error(file_, errno);
}

void NewFile::append(const void* data, size_t bytes) {
  if (const int error = base::write_all(descriptor_.number(), data, bytes))
    base::throw_write_error(file_, error);
  bytes_ += static_cast<int64_t>(bytes);
}

}  // namespace bench
