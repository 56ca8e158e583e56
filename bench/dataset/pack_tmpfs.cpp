// Copies the files, with the same relative paths, to a tmpfs (a file system in memory).
#include <fmt/format.h>
#include <mntent.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <stdexcept>

#include "bench/dataset/pack.h"
#include "harness/base/file.h"
#include "harness/base/file_lock.h"
#include "harness/base/interrupt.h"
#include "harness/base/process_limits.h"
#include "harness/base/scratch.h"
#include "harness/base/stopwatch.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
constexpr int64_t kMemoryPage = 4096;

int64_t needed_bytes(const Dataset& dataset) {
  int64_t pages = 0;
  for (const auto& image : dataset.images) pages += (image.bytes + kMemoryPage - 1) / kMemoryPage;
  return pages * kMemoryPage;
}

// Bytes that a copy may use: 10 % of the file system, and at least 64 MiB, stay free for other uses such as
// the ranks' shared memory.
int64_t room_in(const fs::path& mount) {
  struct statvfs disk;
  if (statvfs(mount.c_str(), &disk)) return 0;
  const auto size = static_cast<int64_t>(disk.f_blocks * disk.f_frsize);
  const auto free = static_cast<int64_t>(disk.f_bavail * disk.f_frsize);
  return std::max<int64_t>(0, free - std::max<int64_t>(size / 10, 64 << 20));
}

void copy_files(const Dataset& dataset, const fs::path& folder) {
  std::string made;
  for_each_image(dataset, "pack tmpfs", [&](const OpenImage& image) {
    const fs::path file = folder / image.entry.path;
    if (const auto parent = file.parent_path().string(); parent != made) base::make_folder(made = parent);
    const NewFile target(file);
    for (int64_t left = image.entry.bytes; left > 0;) {
      const ssize_t n = sendfile(target.descriptor(), image.descriptor, nullptr, static_cast<size_t>(left));
      if (n == 0 || (n < 0 && errno != EINTR)) base::throw_write_error(file, n == 0 ? EIO : errno);
      if (n > 0) left -= n;
    }
  });
}

}  // namespace

// Only the usual places: a tmpfs elsewhere belongs to other programs.
std::vector<fs::path> mounted_tmpfs() {
  std::vector<fs::path> mounts;
  for (const char* folder : {"/dev/shm", "/tmp"}) {
    const std::unique_ptr<FILE, int (*)(FILE*)> table(setmntent("/proc/self/mounts", "r"), endmntent);
    while (const mntent* entry = table ? getmntent(table.get()) : nullptr) {
      if (std::string_view(entry->mnt_dir) != folder || std::string_view(entry->mnt_type) != "tmpfs")
        continue;
      mounts.emplace_back(folder);
      break;
    }
  }
  return mounts;
}

PackResult pack_to_memory(const PackRequest& request, const std::vector<fs::path>& mounts) {
  const auto name = request.dataset.fingerprint;
  const int64_t needed = needed_bytes(request.dataset);
  std::string found;
  for (const auto& mount : mounts) {
    if (!found.empty()) found += ", ";
    if (access(mount.c_str(), W_OK | X_OK)) {
      found += mount.string() + " is not writable";
      continue;
    }
    const fs::path own = base::private_folder(mount), folder = own / name,
                   partial = own / (name + ".partial");
    const base::FileLock one_at_a_time = base::FileLock::of_folder(own);  // of all stores and data sets
    base::stop_if_interrupted();
    const base::InUse use(folder);  // the last run that used a copy may be removing it, as `partial`
    if (fs::exists(folder)) return {folder, "already copied"};
    fs::remove_all(partial);  // from an interrupted copy; it occupies memory
    const int64_t room = room_in(mount);
    found += fmt::format("{} has room for {:.1f} MB", mount.string(), room / 1e6);
    if (room < needed) continue;
    if (const auto memory = base::process_limits().free_memory_bytes; memory < needed)
      throw std::runtime_error(
          fmt::format("copying to {} needs {:.1f} MB of memory but {:.1f} MB are available; use fewer images",
                      mount.string(), needed / 1e6, memory / 1e6));
    if (mkdir(partial.c_str(), 0700)) base::throw_write_error(partial, errno);
    const base::Stopwatch watch;
    try {
      copy_files(request.dataset, partial);
      fs::rename(partial, folder);
    } catch (...) {
      std::error_code ignored;
      fs::remove_all(partial, ignored);
      throw;
    }
    return {folder, fmt::format("copied {} images", request.dataset.images.size()), watch.s()};
  }
  return {"", fmt::format("needs {:.1f} MB in a tmpfs, but {}", needed / 1e6,
                          found.empty() ? "none is mounted at /dev/shm or /tmp" : found)};
}

namespace {

const bool registered_dataset_pack_tmpfs = PackRegistry::instance().add(
    {"pack", "tmpfs", "files with the same names in a mounted tmpfs"},
    [](const PackRequest& request) { return pack_to_memory(request, mounted_tmpfs()); });

}  // namespace
}  // namespace bench
