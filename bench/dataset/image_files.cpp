// Walks through nested folders, follows links except cycles, and counts what is left out.
#include "bench/dataset/image_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "harness/base/interrupt.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 5> kDecoded{".jpeg", ".jpg", ".png", ".jpe", ".jfif"};
// Those of torchvision's IMG_EXTENSIONS, and newer ones that its ImageFolder passes over.
constexpr std::array<std::string_view, 12> kUndecodable{".bmp",  ".pgm", ".ppm",  ".tif",  ".tiff", ".webp",
                                                        ".avif", ".gif", ".heic", ".heif", ".jp2",  ".jxl"};

template <size_t count>
std::string_view ending_among(const std::array<std::string_view, count>& endings, const std::string& name) {
  const auto found =
      std::find_if(endings.begin(), endings.end(), [&](auto ending) { return name.ends_with(ending); });
  return found == endings.end() ? std::string_view() : *found;
}

class Walk {
 public:
  Walk(const fs::path& root, LeftOut& left_out) : root_(root), left_out_(left_out) {}

  void enter(const std::string& folder) {
    base::stop_if_interrupted();
    struct stat facts {};
    const fs::path path = root_ / folder;
    if (::stat(path.c_str(), &facts) != 0)
      throw fs::filesystem_error("stat", path, std::error_code(errno, std::generic_category()));
    const std::pair identity(facts.st_dev, facts.st_ino);
    if (std::find(above_.begin(), above_.end(), identity) != above_.end()) {
      left_out_.cycles.push_back(folder);
      return;
    }
    above_.push_back(identity);
    std::vector<std::string> folders;
    for (const auto& entry : fs::directory_iterator(path)) {
      std::error_code no_folder;  // e.g. a link to itself
      if (entry.is_directory(no_folder))
        folders.push_back(entry.path().filename().string());
      else
        add(folder, entry);
    }
    for (const std::string& name : folders) enter(folder + "/" + name);
    above_.pop_back();
  }

  std::vector<ImageEntry> sorted() {
    std::sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) {
      return std::tie(a.folder, a.name) < std::tie(b.folder, b.name);
    });
    std::vector<ImageEntry> images;
    images.reserve(found_.size());
    for (const Found& found : found_) images.push_back({found.folder + "/" + found.name, 0, found.bytes});
    return images;
  }

 private:
  struct Found {
    std::string folder, name;
    int64_t bytes;
  };

  void add(const std::string& folder, const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string(), lower = in_lower_case(name);
    const std::string_view undecodable = ending_among(kUndecodable, lower);
    if (undecodable.empty() && ending_among(kDecoded, lower).empty()) return;
    if (name.starts_with("._")) {  // macOS's metadata files on foreign file systems
      ++left_out_.skipped;
    } else if (!undecodable.empty()) {
      const std::string path = folder + "/" + name;
      if (left_out_.example.empty() || path < left_out_.example) left_out_.example = path;
      ++left_out_.kinds[std::string(undecodable)];
    } else {
      std::error_code error;
      const bool regular = entry.is_regular_file(error);
      const auto bytes = regular ? static_cast<int64_t>(entry.file_size(error)) : 0;
      const bool one_line = name.find('\n') == std::string::npos && folder.find('\n') == std::string::npos;
      if (!regular || error || !one_line)  // the index has one line per image
        ++left_out_.skipped;
      else
        found_.push_back({folder, name, bytes});
    }
  }

  const fs::path& root_;
  LeftOut& left_out_;
  std::vector<std::pair<dev_t, ino_t>> above_;
  std::vector<Found> found_;
};

}  // namespace

std::string in_lower_case(std::string name) {
  for (char& letter : name)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return name;
}

int64_t LeftOut::undecodable() const {
  int64_t files = 0;
  for (const auto& [kind, count] : kinds) files += count;
  return files;
}

std::string LeftOut::kinds_in_words() const {
  std::vector<std::string> parts;
  for (const auto& [kind, count] : kinds) parts.push_back(fmt::format("{} {}", count, kind));
  return fmt::format("{} (e.g. {})", fmt::join(parts, ", "), example);
}

bool is_decoded(const std::string& name) { return !ending_among(kDecoded, in_lower_case(name)).empty(); }

std::vector<ImageEntry> images_below(const fs::path& root, const std::string& folder, LeftOut& left_out) {
  Walk walk(root, left_out);
  walk.enter(folder);
  return walk.sorted();
}

}  // namespace bench
