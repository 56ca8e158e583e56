// The page cache before a start; a shuffling loader opens other files of the same folders.
#include "harness/own_job/job_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "harness/base/interrupt.h"
#include "harness/base/process_limits.h"

namespace harness {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMostFiles = 200'000;

void read_through(const std::string& file) {
  std::ifstream input(file, std::ios::binary);
  std::vector<char> buffer(1 << 20);
  while (!base::interrupted() &&
         (input.read(buffer.data(), std::streamsize(buffer.size())) || input.gcount() > 0)) {
  }
}

void drop_from_cache(const std::string& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return;
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  ::close(fd);
}

int64_t largest_in_memory() { return base::process_limits().free_memory_bytes / 2; }

int64_t bytes_of(const std::set<std::string>& files) {
  int64_t bytes = 0;
  std::error_code error;
  for (const std::string& file : files)
    if (const auto size = fs::file_size(file, error); !error) bytes += int64_t(size);
  return bytes;
}

// Empty when they are too many or too large.
std::set<std::string> files_beside(const std::set<std::string>& opened) {
  std::set<fs::path> folders;
  for (const std::string& file : opened) folders.insert(fs::path(file).parent_path());
  std::set<std::string> found;
  int64_t bytes = 0;
  const int64_t most = largest_in_memory();
  for (const fs::path& folder : folders) {
    std::error_code error;
    for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator();
         entry.increment(error)) {
      std::error_code unreadable;
      if (!entry->is_regular_file(unreadable)) continue;
      bytes += int64_t(entry->file_size(unreadable));
      if (bytes > most || found.size() >= kMostFiles) return {};
      found.insert(entry->path());
    }
  }
  return found;
}

}  // namespace

void JobFiles::opened(const std::vector<std::string>& files) {
  const size_t before = opened_.size();
  for (const std::string& file : files) {
    std::error_code error;
    if (fs::is_regular_file(file, error)) opened_.insert(file);
  }
  if (opened_.size() == before) return;
  beside_ = files_beside(opened_);
  fit_ = bytes_of(opened_) <= largest_in_memory();
}

void JobFiles::prepare(JobChange::Files as) const {
  if (as == JobChange::Files::as_they_are) return;
  for (const std::set<std::string>* files : {&opened_, &beside_})
    for (const std::string& file : *files) {
      if (base::interrupted()) return;
      as == JobChange::Files::dropped ? drop_from_cache(file) : read_through(file);
    }
}

}  // namespace harness
