// Finds a data set's images, and keeps the list in a file so that no later program has to walk the folders
// again.
#include "bench/dataset/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bench/dataset/fingerprint.h"
#include "bench/dataset/interrupt.h"
#include "bench/dataset/standin_record.h"
#include "bench/dataset/write_file.h"
#include "harness/base/file.h"
#include "harness/base/json_text.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
constexpr int kIndexVersion = 1;

bool is_image(const std::string& name) {
  constexpr std::array<std::string_view, 5> kEndings{".JPEG", ".jpeg", ".jpg", ".JPG", ".png"};
  return std::any_of(kEndings.begin(), kEndings.end(), [&](auto ending) { return name.ends_with(ending); });
}

[[noreturn]] void fail(const fs::path& folder, const std::string& found) {
  throw std::runtime_error(
      fmt::format("{}: {}; expected DIR/train/<class>/<image>.JPEG: give the folder that holds "
                  "train, or make a stand-in with `make_dataset standin --out DIR --images N`",
                  folder.string(), found));
}

bool is_utf8(const std::string& text) {
  try {
    (void)nlohmann::json(text).dump();
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

std::vector<std::string> class_folders(const fs::path& train) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(train, error), end; !error && it != end; it.increment(error)) {
    auto name = it->path().filename().string();
    std::error_code no_folder;  // e.g. a link to itself
    if (name[0] == '.' || !it->is_directory(no_folder)) continue;
    if (name.find('\n') != std::string::npos) fail(train, "the name of a class folder contains a line break");
    names.push_back(std::move(name));
  }
  if (error) fail(train, error.message());
  std::sort(names.begin(), names.end());
  return names;
}

// part: train or val
void add_class(Dataset& dataset, const std::string& part, int64_t label) {
  const std::string& name = dataset.classes[label];
  const auto first = static_cast<int64_t>(dataset.images.size());
  for (const auto& entry : fs::directory_iterator(dataset.root / part / name)) {
    const auto file = entry.path().filename().string();
    if (!is_image(file)) continue;
    std::error_code error;
    const bool regular = entry.is_regular_file(error);
    const auto bytes = regular ? static_cast<int64_t>(entry.file_size(error)) : 0;
    if (!regular || error || file.find('\n') != std::string::npos)  // the index has a line per image
      ++dataset.skipped;
    else
      dataset.images.push_back({part + "/" + name + "/" + file, label, bytes});
  }
  std::sort(dataset.images.begin() + first, dataset.images.end(),
            [](const ImageEntry& a, const ImageEntry& b) { return a.path < b.path; });
}

void add_classes(Dataset& dataset, const std::string& part) try {
  for (size_t label = 0; label < dataset.classes.size(); ++label) {
    stop_if_interrupted();
    if (fs::is_directory(dataset.root / part / dataset.classes[label]))
      add_class(dataset, part, static_cast<int64_t>(label));
  }
} catch (const fs::filesystem_error& problem) {
  throw std::runtime_error(fmt::format("cannot read {}: {}; check its permissions", problem.path1().string(),
                                       problem.code().message()));
}

std::string make_again(const fs::path& root, const StandinRecord& record) {
  return fmt::format("run `make_dataset standin --out {} --images {} --classes {} --seed {}{}` again",
                     root.string(), record.images, record.classes, record.seed,
                     record.validation > 0 ? fmt::format(" --validation {}", record.validation) : "");
}

}  // namespace

int64_t Dataset::total_bytes() const {
  int64_t total = 0;
  for (const auto& image : images) total += image.bytes;
  return total;
}

Dataset scan_dataset(const fs::path& root) {
  std::error_code error;
  if (!fs::is_directory(root, error)) fail(root, "no such folder");
  Dataset dataset;
  dataset.root = fs::canonical(root);
  if (!is_utf8(dataset.root.string()))
    fail(root, "the folder's whole path is not UTF-8, in which indexes and records are written; rename it");
  const auto record = read_standin_record(root);
  const auto again = [&] { return make_again(root, *record); };
  if (record && !record->finished)
    throw std::runtime_error(fmt::format("{}: this stand-in was not finished; {}", root.string(), again()));
  const auto train = dataset.root / "train";
  if (!fs::is_directory(train)) fail(root, "it has no folder train");
  dataset.classes = class_folders(train);
  if (dataset.classes.empty()) fail(train, "it has no class folders");
  add_classes(dataset, "train");
  if (dataset.images.empty())
    fail(train, fmt::format("{} class folders hold no image", dataset.classes.size()));
  if (record) {
    dataset.kind = "stand-in";
    dataset.seed = record->seed;
    if (record->images != static_cast<int64_t>(dataset.images.size()))
      throw std::runtime_error(fmt::format("{}: this stand-in should hold {} images but holds {}; {}",
                                           root.string(), record->images, dataset.images.size(), again()));
  }
  dataset.fingerprint = fingerprint_of(dataset);
  return dataset;
}

bool has_validation(const Dataset& train) { return fs::is_directory(train.root / "val"); }

Dataset scan_validation(const Dataset& train) {
  const fs::path folder = train.root / "val";
  const auto refuse = [&](const std::string& found) {
    throw std::runtime_error(
        fmt::format("{}: {}; expected DIR/val/<class>/<image>.JPEG with the class folders of DIR/train",
                    folder.string(), found));
  };
  const auto names = class_folders(folder);
  if (names.empty()) refuse("it has no class folders");
  for (const std::string& name : names)
    if (!std::binary_search(train.classes.begin(), train.classes.end(), name))
      refuse(fmt::format("class folder {} is not in train, so no network can have learned it", name));
  Dataset validation = train;
  validation.images.clear();
  validation.skipped = 0;
  add_classes(validation, "val");
  for (const std::string& name : names) {
    const auto label =
        std::lower_bound(train.classes.begin(), train.classes.end(), name) - train.classes.begin();
    if (std::none_of(validation.images.begin(), validation.images.end(),
                     [&](const ImageEntry& image) { return image.label == label; }))
      refuse(fmt::format("class folder {} holds no image", name));
  }
  const auto record = read_standin_record(train.root);
  if (record && record->validation != static_cast<int64_t>(validation.images.size()))
    throw std::runtime_error(fmt::format("{}: this stand-in should hold {} images but holds {}; {}",
                                         folder.string(), record->validation, validation.images.size(),
                                         make_again(train.root, *record)));
  validation.fingerprint = fingerprint_of(validation);
  return validation;
}

void write_index(const Dataset& dataset, const fs::path& file) {
  const nlohmann::ordered_json header{{"version", kIndexVersion},
                                      {"root", dataset.root.string()},
                                      {"fingerprint", dataset.fingerprint},
                                      {"images", dataset.images.size()},
                                      {"bytes", dataset.total_bytes()},
                                      {"kind", dataset.kind},
                                      {"seed", dataset.seed},
                                      {"skipped", dataset.skipped},
                                      {"classes", dataset.classes}};
  // Class names are for people; paths, which need not be UTF-8, stand in the lines below as they are.
  std::string text = header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  for (const auto& image : dataset.images)
    text += fmt::format("{}\t{}\t{}\n", image.label, image.bytes, image.path);
  make_folder(fs::absolute(file).parent_path());
  write_whole_file(file, text);
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
    if (header.at("version") != kIndexVersion) throw bad("another version of the index");
    dataset.root = header.at("root").get<std::string>();
    dataset.fingerprint = header.at("fingerprint");
    dataset.kind = header.at("kind");
    dataset.seed = header.at("seed");
    dataset.skipped = header.value("skipped", int64_t{0});
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
