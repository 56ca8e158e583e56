// Reads and writes the index file, so that later programs need not scan the folders again.
#include "bench/formats/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "harness/base/file.h"
#include "harness/base/json_text.h"

namespace bench {

namespace fs = std::filesystem;

static constexpr int kIndexVersion = 1;

int64_t Dataset::total_bytes() const {
  int64_t total = 0;
  for (const auto& image : images) total += image.bytes;
  return total;
}

void write_index(const Dataset& dataset, const fs::path& file) {
  nlohmann::ordered_json header{{"version", kIndexVersion},
                                {"root", dataset.root.string()},
                                {"fingerprint", dataset.fingerprint},
                                {"images", dataset.images.size()},
                                {"bytes", dataset.total_bytes()},
                                {"kind", dataset.kind},
                                {"seed", dataset.seed},
                                {"skipped", dataset.skipped},
                                {"classes", dataset.classes}};
  if (!dataset.left_out.empty()) header["left_out"] = dataset.left_out;
  // Invalid UTF-8 in class names is replaced (they are informational); paths are written below byte for byte.
  std::string text = header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  for (const auto& image : dataset.images)
    text += fmt::format("{}\t{}\t{}\n", image.label, image.bytes, image.path);
  base::make_folder(fs::absolute(file).parent_path());
  base::write_whole_file(file, text);
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
    const auto header = base::parse_json(line);
    if (header.at("version") != kIndexVersion) throw bad("unsupported version of the index");
    dataset.root = header.at("root").get<std::string>();
    dataset.fingerprint = header.at("fingerprint");
    dataset.kind = header.at("kind");
    dataset.seed = header.at("seed");
    dataset.skipped = header.value("skipped", int64_t{0});
    dataset.left_out = header.value("left_out", dataset.left_out);
    dataset.classes = header.at("classes");
    images = header.at("images");
  } catch (const nlohmann::json::exception&) {
    throw bad("this is not the header of an index");
  }
  dataset.images.reserve(std::min<int64_t>(images, 1 << 24));
  while (std::getline(stream, line)) {
    ++number;
    ImageEntry image;
    const char* end = line.data() + line.size();
    auto [label_end, label_error] = std::from_chars(line.data(), end, image.label);
    if (label_error != std::errc() || label_end == end || *label_end != '\t')
      throw bad("expected label<TAB>bytes<TAB>path");
    auto [bytes_end, bytes_error] = std::from_chars(label_end + 1, end, image.bytes);
    if (bytes_error != std::errc() || bytes_end == end || *bytes_end != '\t' || bytes_end + 1 == end)
      throw bad("expected label<TAB>bytes<TAB>path");
    image.path.assign(bytes_end + 1, end);
    dataset.images.push_back(std::move(image));
  }
  if (static_cast<int64_t>(dataset.images.size()) != images)
    throw bad(fmt::format("the index ends after {} of {} images", dataset.images.size(), images));
  return dataset;
}

}  // namespace bench
