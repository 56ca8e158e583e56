// Tars by libarchive. Files with the same name up to the first dot are one sample, as in webdataset,
// whose .cls is its label. Without .cls the class is the folder in the tar, or else the tar's name
// (one tar per class, as ImageNet's n01440764.tar).
#include "bench/dataset/containers.h"

#ifdef HAVE_LIBARCHIVE
#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <stdexcept>

#include "bench/dataset/image_files.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
using Bytes = std::span<const uint8_t>;

// webdataset's shards end in a number of their own: set-000012.tar or 00012.tar, not n01440764.tar.
bool is_numbered(const std::string& stem) {
  const auto before = stem.find_last_not_of("0123456789");
  return before == std::string::npos ||
         (before + 1 < stem.size() && (stem[before] == '-' || stem[before] == '_'));
}

class Samples {
 public:
  Samples(const Container& container, std::string stem) : container_(container), stem_(std::move(stem)) {}

  void add(const std::string& path, Bytes bytes) {
    const std::string base = fs::path(path).filename();
    const auto dot = base.find('.');
    if (base.starts_with('.') || base.starts_with("__") || dot == std::string::npos) return;
    const std::string key = path.substr(0, path.size() - base.size() + dot), ending = base.substr(dot);
    // Only webdataset gives a name before the first dot to several files.
    if (key != key_ || (!name_.empty() && is_decoded(base) && !is_numbered(stem_))) end();
    key_ = key;
    parts_ += (parts_.empty() ? "" : ", ") + ending;
    if (ending == ".cls") {
      std::string text(bytes.begin(), bytes.end());
      text.erase(text.find_last_not_of(" \n\r\t") + 1);
      int64_t label = 0;
      const auto [past, error] = std::from_chars(text.data(), text.data() + text.size(), label);
      if (text.empty() || error != std::errc() || past != text.data() + text.size())
        throw std::runtime_error(
            fmt::format("{}.cls holds '{}', not a class number", key, text.substr(0, 40)));
      label_ = label;
    } else if (is_decoded(base)) {
      if (!name_.empty())
        throw std::runtime_error(fmt::format("sample {} has two images: {} and {}", key, name_, path));
      name_ = path;
      image_ = bytes;
    }
  }

  void end() {
    if (parts_.empty()) return;
    const std::string folder = fs::path(key_).parent_path().filename();
    if (name_.empty() && (label_ || is_numbered(stem_)))
      throw std::runtime_error(
          fmt::format("sample {} has {}, but no image in .jpg, .jpeg or .png", key_, parts_));
    if (!name_.empty() && !label_ && (folder.empty() || folder == ".") && is_numbered(stem_))
      throw std::runtime_error(fmt::format("sample {} has {}, but no label: webdataset's is in a file {}.cls",
                                           key_, parts_, key_));
    if (!name_.empty()) {
      const int64_t label = label_
                                ? container_.labels.numbered(*label_)
                                : container_.labels.named(folder.empty() || folder == "." ? stem_ : folder);
      container_.take(name_, label, image_);
    }
    label_.reset();
    name_.clear();
    parts_.clear();
  }

 private:
  const Container& container_;
  const std::string stem_;
  std::string key_, name_, parts_;
  std::optional<int64_t> label_;
  Bytes image_;
};

// `bytes`: the archive, or one within it (ImageNet's ILSVRC2012_img_train.tar holds a tar per class).
void visit(const Container& container, Bytes bytes, const std::string& name, bool outermost) {
  const std::unique_ptr<archive, int (*)(archive*)> reader(archive_read_new(), archive_read_free);
  const auto check = [&](int result) {
    const char* why = archive_error_string(reader.get());
    if (result != ARCHIVE_OK && result != ARCHIVE_WARN)
      throw std::runtime_error(fmt::format("libarchive: {}", why ? why : "damaged"));
  };
  archive_read_support_format_tar(reader.get());
  check(archive_read_open_memory(reader.get(), bytes.data(), bytes.size()));
  Samples samples(container, fs::path(name).stem());
  archive_entry* entry = nullptr;
  for (int result; (result = archive_read_next_header(reader.get(), &entry)) != ARCHIVE_EOF;) {
    check(result);
    if (archive_entry_filetype(entry) != AE_IFREG) continue;
    const char* text = archive_entry_pathname(entry);
    if (!text) text = archive_entry_pathname_utf8(entry);
    const std::string path = text ? text : "";
    const void* block = nullptr;
    size_t size = 0;
    la_int64_t at = 0;
    if (archive_entry_size(entry) > 0) check(archive_read_data_block(reader.get(), &block, &size, &at));
    if (at != 0 || static_cast<la_int64_t>(size) != archive_entry_size(entry))
      throw std::runtime_error(fmt::format("{} is cut off or stored in pieces", path));
    const Bytes content(static_cast<const uint8_t*>(block), size);
    if (outermost && path.ends_with(".tar"))
      visit(container, content, path, false);
    else
      samples.add(path, content);
  }
  samples.end();
  constexpr size_t kEnd = 1024;  // two empty blocks
  if (bytes.size() < kEnd ||
      !std::all_of(bytes.end() - kEnd, bytes.end(), [](uint8_t byte) { return byte == 0; }))
    throw std::runtime_error("it doesn't end with the two empty blocks of a tar: its end is cut off");
}

}  // namespace

void visit_tar(const Container& container) {
  visit(container, container.bytes, container.file.filename(), true);
}

}  // namespace bench
#endif
