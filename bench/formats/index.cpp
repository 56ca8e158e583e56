// Reads and writes the index file, so that later programs need not scan the folders again.
#include "bench/formats/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <unordered_set>

#include "harness/base/file.h"

namespace bench {

namespace fs = std::filesystem;

int64_t Dataset::total_bytes() const {
  int64_t total = 0;
  for (const auto& image : images) total += image.bytes;
  return total;
}

std::vector<fs::path> Dataset::files_of(const std::vector<int64_t>& records) const {
  std::vector<fs::path> files;
  std::unordered_set<std::string> seen;
  for (const int64_t record : records)
    if (const ImageEntry& image = images.at(static_cast<size_t>(record));
        image.offset < 0 || seen.insert(image.file()).second)
      files.push_back(root / image.file());
  return files;
}

void write_index(const Dataset& dataset, const fs::path& file) {
  harness::IndexHeader header;
  static_cast<harness::DatasetFacts&>(header) = dataset;
  header.root = dataset.root.string();
  header.images = int64_t(dataset.images.size());
  header.bytes = dataset.total_bytes();
  // Invalid UTF-8 in class names is replaced (they are informational); paths are written below byte for byte.
  std::string text =
      harness::encode(header).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  for (const auto& image : dataset.images)
    text += image.offset < 0 ? fmt::format("{}\t{}\t{}\n", image.label, image.bytes, image.path)
                             : fmt::format("{}\t{}@{}/{}\t{}\n", image.label, image.bytes, image.offset,
                                           image.file_length, image.path);
  base::make_folder(fs::absolute(file).parent_path());
  base::write_whole_file(file, text);
}

std::string root_of_index(const fs::path& file) try {
  std::ifstream stream = base::open_regular(file);
  std::string line;
  std::getline(stream, line);
  return harness::index_header(line).root;
} catch (const std::runtime_error&) {
  return "";
}

Dataset read_index(const fs::path& file) {
  std::ifstream stream = base::open_regular(file);
  int64_t number = 1;
  auto bad = [&](const std::string& found) {
    return std::runtime_error(
        fmt::format("{}:{}: {}; make it again with `make_dataset index --data DIR --store DIR`",
                    file.string(), number, found));
  };
  if (!stream) throw bad("no such index file, or no permission to read it");
  Dataset dataset;
  std::string line;
  int64_t images = 0;
  try {
    std::getline(stream, line);
    const harness::IndexHeader header = harness::index_header(line);
    static_cast<harness::DatasetFacts&>(dataset) = header;
    dataset.root = header.root;
    images = header.images;
  } catch (const harness::Violation& violation) {
    throw bad(fmt::format("this is not the header of an index ({})", violation.what()));
  }
  constexpr uintmax_t kShortestLine_bytes = 6;  // a damaged header claims no more memory than the file allows
  std::error_code unknown;
  const uintmax_t bytes = fs::file_size(file, unknown);
  if (!unknown) dataset.images.reserve(std::min<uintmax_t>(images, bytes / kShortestLine_bytes));
  while (std::getline(stream, line)) {
    ++number;
    ImageEntry image;
    const char* end = line.data() + line.size();
    const char* at = line.data();
    const auto number_before = [&](auto& value, char separator) {
      const auto [past, error] = std::from_chars(at, end, value);
      at = past;
      return error == std::errc() && at != end && *at++ == separator;
    };
    const bool in_file = line.find('@') < line.find('\t', line.find('\t') + 1);
    bool good =
        number_before(image.label, '\t') && number_before(image.bytes, in_file ? '@' : '\t') && at != end;
    if (good && in_file)
      good = number_before(image.offset, '/') && number_before(image.file_length, '\t') &&
             image.offset >= 0 && image.file_length < static_cast<size_t>(end - at);
    if (!good) throw bad("expected label<TAB>bytes<TAB>path");
    image.path.assign(at, end);
    dataset.images.push_back(std::move(image));
  }
  if (static_cast<int64_t>(dataset.images.size()) != images)
    throw bad(fmt::format("the index ends after {} of {} images", dataset.images.size(), images));
  return dataset;
}

}  // namespace bench
