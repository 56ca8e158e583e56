// Checks that only make_dataset wrote a copy, and renames it before the removal, which may be interrupted.
#include "bench/dataset/prune.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "bench/dataset/pack.h"
#include "bench/formats/packed_copy.h"
#include "harness/base/file.h"
#include "harness/base/file_lock.h"
#include "harness/base/interrupt.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

fs::path beside(const fs::path& folder, std::string_view ending) {
  return folder.string() + std::string(ending);
}

// Of the file itself, not of what a link names.
fs::file_type type_of(const fs::path& file) {
  std::error_code gone;
  return fs::symlink_status(file, gone).type();
}

// Sorted. Throws std::system_error: what can't be listed must not look like what is empty.
std::vector<fs::path> listed(const fs::path& folder) try {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder)) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
} catch (const fs::filesystem_error& error) {
  throw std::system_error(error.code(), "it can't be opened");
}

bool is_small_file(const fs::path& file) {
  const std::string name = file.filename();
  return type_of(file) == fs::file_type::regular &&
         ((is_list(name) && (name.ends_with(".tsv") || name.ends_with(".partial"))) ||
          name.ends_with(kPackLock) || name.ends_with(kPackRecord));
}

// Renames the copy to <name>.partial first, so that an interrupted removal never leaves one that looks
// finished.
void remove_copy(const fs::path& copy, const fs::path& partial) {
  std::error_code exists;  // what a killed pack left
  fs::rename(copy, partial, exists);
  fs::remove(beside(copy, kPackRecord));
  fs::remove_all(exists ? copy : partial);
}

PrunedFolder prune_copy(const fs::path& copy, const std::string& data, std::string kept, bool dry_run) {
  base::stop_if_interrupted();
  fs::path whole = copy;
  const bool partial = copy.extension() == ".partial";
  if (partial) whole.replace_extension();
  std::string odd;
  try {
    for (const fs::path& file : listed(copy))
      if (type_of(file) != fs::file_type::regular) odd = file.filename();
  } catch (const std::system_error& error) {
    kept = error.what();
  }
  const fs::path lock_file = beside(whole, kPackLock);
  // A packer creates this lock file first and never removes it.
  if (partial ? type_of(lock_file) != fs::file_type::regular : !is_packed_copy(copy))
    kept = "make_dataset did not pack it";
  else if (!odd.empty())
    kept = fmt::format("it holds {}, which make_dataset did not put there", odd);
  const int64_t bytes = base::bytes_below(copy);
  if (kept.empty()) {
    const auto lock = base::FileLock::try_exclusive(lock_file);
    if (!lock.holds() || !lock.is_current())
      kept = "it is being packed";
    else if (!dry_run)
      remove_copy(copy, beside(whole, ".partial"));
  }
  return {copy, data, bytes, kept};
}

// Removes the index and the lock files when no copy is left.
void remove_index(const fs::path& folder) {
  const std::vector<fs::path> files = listed(folder);
  if (!std::all_of(files.begin(), files.end(), is_small_file)) return;
  std::error_code ignored;
  for (const fs::path& file : files) {
    std::optional<base::FileLock> lock;
    if (file.extension() == kPackLock) lock.emplace(base::FileLock::try_exclusive(file));
    if (!lock || lock->holds()) fs::remove(file, ignored);
  }
  fs::remove(folder, ignored);  // fails, as intended, if something is left in it
}

void prune_set(const PruneRequest& request, const fs::path& folder, std::vector<PrunedFolder>& done) {
  const std::vector<fs::path> entries = listed(folder);
  const std::string data = root_of_index(folder / "index.tsv");
  const fs::path in_use = beside(folder, ".in-use");
  std::string kept;
  std::optional<base::FileLock> unused;
  if (request.keep.contains(folder.filename())) {
    kept = "--keep names it";
  } else {
    unused.emplace(base::FileLock::try_exclusive(in_use));
    if (!unused->holds() || !unused->is_current()) kept = "a run uses it (or its lock can't be taken)";
  }
  for (const fs::path& entry : entries)
    if (type_of(entry) == fs::file_type::directory)
      done.push_back(prune_copy(entry, data, kept, request.dry_run));
  if (!kept.empty()) return;
  if (!request.dry_run) remove_index(folder);
  std::error_code ignored;
  fs::remove(in_use, ignored);
}

}  // namespace

std::vector<PrunedFolder> prune(const PruneRequest& request) {
  std::vector<fs::path> sets;
  try {
    sets = listed(request.store);
  } catch (const std::system_error& error) {
    throw std::runtime_error(fmt::format("{}: {}; give the folder of packed copies with --store",
                                         request.store.string(), error.code().message()));
  }
  std::vector<PrunedFolder> done;
  for (const fs::path& set : sets)
    if (is_fingerprint(set.filename()) && type_of(set) == fs::file_type::directory) try {
        prune_set(request, set, done);
      } catch (const std::system_error& problem) {
        done.push_back({set, "", 0, problem.what()});
      }
  return done;
}

}  // namespace bench
