// Checks that only make_dataset wrote a copy, and renames it before the removal, which may be interrupted.
#include "bench/dataset/prune.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "bench/dataset/pack.h"
#include "bench/formats/packed_copy.h"
#include "harness/base/file.h"
#include "harness/base/file_lock.h"
#include "harness/base/interrupt.h"
#include "harness/contract/dataset.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPartial = ".partial";

// These two throw std::system_error: what can't be listed must not look like what is empty.
base::Descriptor open_folder(const std::string& name, int parent = AT_FDCWD) {
  base::Descriptor opened(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (opened.number() < 0) throw std::system_error(errno, std::generic_category(), "it can't be opened");
  return opened;
}

std::vector<std::string> names_in(int folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(
      ::fdopendir(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), ::closedir);
  errno = listing ? 0 : errno;
  while (const dirent* entry = listing ? ::readdir(listing.get()) : nullptr)
    if (const std::string name = entry->d_name; name != "." && name != "..") names.push_back(name);
  if (errno != 0) throw std::system_error(errno, std::generic_category(), "it can't be listed");
  std::sort(names.begin(), names.end());
  return names;
}

mode_t kind_of(int folder, const std::string& name, int64_t* bytes = nullptr) {
  struct stat facts {};
  if (::fstatat(folder, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) return 0;
  if (bytes) *bytes += static_cast<int64_t>(facts.st_size);
  return facts.st_mode & S_IFMT;
}

bool is_small_file(const std::string& name) {
  return (is_list(name) && (name.ends_with(".tsv") || name.ends_with(kPartial))) ||
         name.ends_with(kPackLock) || name.ends_with(kPackRecord);
}

class Pruning {
 public:
  Pruning(const PruneRequest& request, fs::path folder, std::vector<PrunedFolder>& done)
      : request_(request),
        folder_(std::move(folder)),
        data_(root_of_index(folder_ / "index.tsv")),
        done_(done) {}

  void run() {
    const std::string fingerprint = folder_.filename().string();
    opened_ = open_folder(folder_);
    std::string kept;
    std::optional<base::FileLock> unused;
    if (request_.keep.contains(fingerprint)) {
      kept = "--keep names it";
    } else {
      unused.emplace(base::FileLock::try_exclusive(in_use_file()));
      if (!unused->holds() || !unused->is_current()) kept = "a run uses it (or its lock can't be taken)";
    }
    for (const std::string& name : names_in(opened_.number()))
      if (kind_of(opened_.number(), name) == S_IFDIR) consider(name, kept);
    if (!kept.empty()) return;
    if (!request_.dry_run) remove_index();
    ::unlink(in_use_file().c_str());
  }

 private:
  fs::path in_use_file() const { return folder_.string() + ".in-use"; }

  void consider(const std::string& name, std::string kept) {
    base::stop_if_interrupted();
    const bool partial = name.ends_with(kPartial);
    const std::string whole = partial ? name.substr(0, name.size() - kPartial.size()) : name;
    PrunedFolder found{folder_ / name, data_, 0, ""};
    base::Descriptor inside;
    std::vector<std::string> files;
    try {
      inside = open_folder(name, opened_.number());
      files = names_in(inside.number());
    } catch (const std::system_error& error) {
      kept = error.what();
    }
    std::string odd;
    for (const std::string& file : files)
      if (kind_of(inside.number(), file, &found.bytes) != S_IFREG) odd = file;
    // A packer creates this lock file first and never removes it.
    const bool packed = partial ? kind_of(opened_.number(), whole + std::string(kPackLock)) == S_IFREG
                                : is_packed_copy(folder_ / name);
    if (!packed)
      kept = "make_dataset did not pack it";
    else if (!odd.empty())
      kept = fmt::format("it holds {}, which make_dataset did not put there", odd);
    if (kept.empty()) {
      const auto lock = base::FileLock::try_exclusive(folder_ / (whole + std::string(kPackLock)));
      if (!lock.holds() || !lock.is_current())
        kept = "it is being packed";
      else if (!request_.dry_run)
        remove(name, whole + std::string(kPartial), files, inside.number());
    }
    found.kept = kept;
    done_.push_back(std::move(found));
  }

  // Renames the copy to <name>.partial first, so that an interrupted removal never leaves one that looks
  // finished.
  void remove(const std::string& name, const std::string& partial, const std::vector<std::string>& files,
              int inside) {
    const int folder = opened_.number();
    const std::string record = name + std::string(kPackRecord);
    if (name != partial && ::renameat(folder, name.c_str(), folder, partial.c_str()) != 0 &&
        ::unlinkat(inside, "pack.json", 0) != 0 &&
        ::unlinkat(folder, record.c_str(), 0) != 0)  // NAME.partial exists already
      fail(name, errno);
    const bool renamed = kind_of(folder, name) == 0;
    ::unlinkat(folder, record.c_str(), 0);
    for (const std::string& file : files)
      if (::unlinkat(inside, file.c_str(), 0) != 0 && errno != ENOENT) fail(name, errno);
    if (::unlinkat(folder, (renamed ? partial : name).c_str(), AT_REMOVEDIR) != 0) fail(name, errno);
  }

  [[noreturn]] void fail(const std::string& name, int error) const {
    base::throw_write_error(folder_ / name, error);
  }

  // Removes the index and the lock files when no copy is left.
  void remove_index() {
    const std::vector<std::string> names = names_in(opened_.number());
    if (!std::all_of(names.begin(), names.end(), [&](const std::string& name) {
          return is_small_file(name) && kind_of(opened_.number(), name) == S_IFREG;
        }))
      return;
    for (const std::string& name : names) {
      std::optional<base::FileLock> lock;
      if (name.ends_with(kPackLock)) lock.emplace(base::FileLock::try_exclusive(folder_ / name));
      if (!lock || lock->holds()) ::unlinkat(opened_.number(), name.c_str(), 0);
    }
    ::rmdir(folder_.c_str());  // fails, as intended, if something is left in it
  }

  const PruneRequest& request_;
  const fs::path folder_;
  const std::string data_;
  std::vector<PrunedFolder>& done_;
  base::Descriptor opened_;
};

}  // namespace

std::vector<PrunedFolder> prune(const PruneRequest& request) {
  // The store itself may be a symbolic link.
  const base::Descriptor store(::open(request.store.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (store.number() < 0)
    throw std::runtime_error(fmt::format("{}: {}; give the folder of packed copies with --store",
                                         request.store.string(), std::strerror(errno)));
  std::vector<PrunedFolder> done;
  for (const std::string& name : names_in(store.number()))
    if (is_fingerprint(name) && kind_of(store.number(), name) == S_IFDIR) try {
        Pruning(request, request.store / name, done).run();
      } catch (const std::system_error& error) {
        done.push_back({request.store / name, "", 0, error.what()});
      }
  return done;
}

}  // namespace bench
