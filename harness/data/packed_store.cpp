// Holds a shared lock beside each copy in use, and sums the sizes of all copies by data set.
#include "harness/data/packed_store.h"

#include <fmt/format.h>

#include "harness/base/child_process.h"
#include "harness/base/file.h"
#include "harness/base/say.h"

namespace harness {

CopiesInUse::CopiesInUse(const fs::path& folder) {
  try {
    use_.emplace(folder);
  } catch (const std::runtime_error& error) {
    base::say("{}; don't run `make_dataset prune` on {} during this run\n", error.what(),
              folder.parent_path().string());
  }
}

TransientCopy::~TransientCopy() {
  if (!use_.make_alone()) return;
  // Renamed first: a removal that ends halfway must not leave what looks like a finished copy. Packing
  // removes the rest.
  std::error_code ignored;
  fs::path rest = location_;
  rest += ".partial";
  fs::rename(location_, rest, ignored);
  fs::remove_all(rest, ignored);
}

// Whether there are subfolders, the copies; a data set that was only indexed has none.
static bool holds_copies(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;
    if (it->symlink_status(gone).type() == fs::file_type::directory) return true;
  }
  return false;
}

StoreRoom room_of_store(const fs::path& store, const std::set<std::string>& own_fingerprints) {
  StoreRoom room;
  std::error_code error;
  for (fs::directory_iterator it(store, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;
    if (it->symlink_status(gone).type() != fs::file_type::directory) continue;
    const int64_t bytes = base::bytes_below(it->path());
    room.bytes += bytes;
    if (own_fingerprints.contains(it->path().filename().string()) || !holds_copies(it->path())) continue;
    room.of_others += bytes;
    ++room.others;
  }
  return room;
}

static std::string size_in_words(int64_t bytes) {
  return bytes >= 1'000'000'000 ? fmt::format("{:.1f} GB", bytes / 1e9)
                                : fmt::format("{:.1f} MB", bytes / 1e6);
}

std::string describe_store(const fs::path& store, const StoreRoom& room, const fs::path& make_dataset,
                           const std::set<std::string>& own_fingerprints) {
  std::string text = fmt::format("{} holds {} of packed copies", store.string(), size_in_words(room.bytes));
  if (room.others == 0) return text;
  base::Command remove{{make_dataset.string(), "prune", "--store", store.string()}, {}, {}, {}, {}};
  for (const std::string& fingerprint : own_fingerprints)
    remove.arguments.insert(remove.arguments.end(), {"--keep", fingerprint});
  return text + fmt::format(", of which {} belong to {} other data {}; `{}` removes those that no run uses",
                            size_in_words(room.of_others), room.others, room.others == 1 ? "set" : "sets",
                            base::shell_line(remove));
}

}  // namespace harness
