// Lists the classes and images below train or val, and refuses folders that don't have the expected layout.
#include "bench/dataset/scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bench/dataset/image_files.h"
#include "bench/dataset/standin_record.h"
#include "bench/formats/mapped_file.h"
#include "harness/base/interrupt.h"
#include "harness/base/plain_text.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& folder, const std::string& found) {
  std::error_code error;
  if (const std::string known = fs::exists(folder, error) ? what_to_do_with(folder) : ""; !known.empty())
    throw std::runtime_error(fmt::format("{}: {}", folder.string(), known));
  throw std::runtime_error(
      fmt::format("{}: {}; expected DIR/train/<class>/<image>.JPEG: give the folder that holds train, or "
                  "make a stand-in with `make_dataset standin --out DIR --images N`",
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

// Shortens a list of names for a message: the first one and the number of the others.
std::string first_of(const std::vector<std::string>& names) {
  return names.size() == 1 ? names[0] : fmt::format("{} and {} more", names[0], names.size() - 1);
}

struct ClassFolders {
  std::vector<std::string> names, hidden;
};

ClassFolders class_folders(const fs::path& train) {
  ClassFolders found;
  std::error_code error;
  for (fs::directory_iterator it(train, error), end; !error && it != end; it.increment(error)) {
    auto name = it->path().filename().string();
    std::error_code no_folder;  // e.g. a link to itself
    if (!it->is_directory(no_folder)) continue;
    if (name[0] != '.' && name.find('\n') != std::string::npos)
      fail(train, "the name of a class folder contains a line break");
    (name[0] == '.' ? found.hidden : found.names).push_back(std::move(name));
  }
  if (error) fail(train, error.message());
  std::sort(found.names.begin(), found.names.end());
  std::sort(found.hidden.begin(), found.hidden.end());
  return found;
}

// part: train or val. Images that can't be decoded here are refused, or left out with a note.
void add_classes(Dataset& dataset, const std::string& part, Unreadable unreadable) try {
  LeftOut left_out;
  for (size_t label = 0; label < dataset.classes.size(); ++label) {
    const std::string folder = part + "/" + dataset.classes[label];
    if (!fs::is_directory(dataset.root / folder)) continue;
    for (ImageEntry& image : images_below(dataset.root, folder, left_out)) {
      image.label = static_cast<int64_t>(label);
      dataset.images.push_back(std::move(image));
    }
  }
  const std::string folder = (dataset.root / part).string();
  if (const int64_t count = left_out.undecodable(); count > 0) {
    if (unreadable == Unreadable::refused)
      throw std::runtime_error(fmt::format(
          "{}: holds {} in formats that this suite doesn't decode: {}; convert to JPEG or PNG, or leave out with "
          "--skip-unreadable",
          folder, base::counted(count, "image"), left_out.kinds_in_words()));
    dataset.notes.push_back(fmt::format("{}: left out {} in formats that this suite doesn't decode: {}",
                                        folder, base::counted(count, "image"), left_out.kinds_in_words()));
  }
  if (!left_out.cycles.empty())
    dataset.notes.push_back(
        fmt::format("{}: {} links to a parent folder and was not followed; torchvision's "
                    "ImageFolder lists the images there up to 40 times",
                    folder, first_of(left_out.cycles)));
  dataset.left_out = left_out.kinds;
  dataset.skipped = left_out.skipped;
} catch (const fs::filesystem_error& problem) {
  throw std::runtime_error(fmt::format("cannot read {}: {}; check its permissions", problem.path1().string(),
                                       problem.code().message()));
}

void check_no_class_is_empty(Dataset& dataset, const fs::path& train, Unreadable unreadable) {
  std::vector<bool> has_images(dataset.classes.size());
  for (const ImageEntry& image : dataset.images) has_images[static_cast<size_t>(image.label)] = true;
  std::vector<std::string> empty;
  for (size_t label = 0; label < has_images.size(); ++label)
    if (!has_images[label]) empty.push_back(dataset.classes[label]);
  if (empty.empty()) return;
  const bool folders = dataset.kind == "folder";
  const std::string found =
      fmt::format("{}: {} of {} {} hold no image ({})", train.string(), empty.size(), dataset.classes.size(),
                  folders ? "class folders" : "classes", first_of(empty));
  if (unreadable == Unreadable::refused)
    throw std::runtime_error(
        found +
        (folders
             ? ", which torchvision's ImageFolder refuses too; add images, remove these folders, or keep them "
               "as empty classes with --skip-unreadable"
             : "; if labels count from 1, add --labels-from 1; --skip-unreadable keeps such classes as empty ones"));
  dataset.notes.push_back(found + "; they keep their class numbers");
}

std::string make_again(const fs::path& root, const StandinRecord& record) {
  return fmt::format("run `make_dataset standin --out {} --images {} --classes {} --seed {}{}` again",
                     root.string(), record.images, record.classes, record.seed,
                     record.validation > 0 ? fmt::format(" --validation {}", record.validation) : "");
}

void require_images(int64_t wanted, const Dataset& found, const fs::path& folder, const std::string& again) {
  if (static_cast<int64_t>(found.images.size()) != wanted)
    throw std::runtime_error(fmt::format("{}: this stand-in should hold {} images but holds {}; {}",
                                         folder.string(), wanted, found.images.size(), again));
}

Labels labels_of(const Containers& found, const ScanOptions& options, std::vector<std::string> known = {}) {
  if (found.kind->visit == visit_tfrecord && options.labels_from < 0)
    throw std::runtime_error(fmt::format(
        "{}: TFRecords don't tell the number of the first class; add --labels-from 1, as ImageNet's have it, or "
        "--labels-from 0",
        found.root.string()));
  Labels labels(std::move(known));
  labels.first = std::max<int64_t>(0, options.labels_from);
  return labels;
}

Dataset scan_containers(Dataset dataset, const Containers& found, const ScanOptions& options) {
  if (found.train.empty())
    throw std::runtime_error(fmt::format(
        "{}: all its {} {} files are of a validation or test part by their names; expected files of train, in the same "
        "folder or in a folder train",
        dataset.root.string(), found.validation.size() + found.test.size(), found.kind->name));
  Labels labels = labels_of(found, options);
  add_images(dataset, found, found.train, labels, options.unreadable);
  dataset.kind = found.kind->storage;
  if (!found.test.empty())
    dataset.notes.push_back(fmt::format("{}: files of a test part are passed over: {}", dataset.root.string(),
                                        first_of(found.test)));
  check_no_class_is_empty(dataset, dataset.root, options.unreadable);
  dataset.fingerprint = fingerprint_of(dataset);
  return dataset;
}

bool is_in_containers(const Dataset& dataset) {
  return !dataset.images.empty() && dataset.images[0].offset >= 0;
}

}  // namespace

void add_images(Dataset& dataset, const Containers& found, const std::vector<std::string>& files,
                Labels& labels, std::optional<Unreadable> checked) {
  for (const std::string& file : files) {
    const MappedFile mapped(found.root / file, true, "check its permissions");
    const auto all = mapped.bytes();
    int64_t number = 0;
    const TakeImage take = [&](std::string name, int64_t label, std::span<const uint8_t> image) {
      base::stop_if_interrupted();
      for (char& letter : name)  // one line of the index, and one component of a path
        if (letter == '/' || static_cast<unsigned char>(letter) < ' ') letter = '_';
      constexpr size_t kLongestName = 200;  // with its number, of the 255 bytes that a file's name may have
      name = fmt::format("{}/{:06}{}{}", file, number++, name.empty() ? "" : "_",
                         name.size() > kLongestName ? name.substr(name.size() - kLongestName) : name);
      const std::string_view text(reinterpret_cast<const char*>(image.data()), image.size());
      if (checked && !text.starts_with("\xFF\xD8") && !text.starts_with("\x89PNG")) {
        if (checked == Unreadable::refused)
          throw std::runtime_error(
              fmt::format("{} ({} bytes) is neither JPEG nor PNG; convert it, or leave such images out "
                          "with --skip-unreadable",
                          name, image.size()));
        ++dataset.left_out["unknown"];
        return;
      }
      if (image.empty())
        image = all.first(0);
      else if (image.data() < all.data() || image.data() + image.size() > all.data() + all.size())
        throw std::runtime_error("its images are compressed or encoded, so they can't be read in place; " +
                                 fmt::format(fmt::runtime(found.kind->next_step), found.root.string()));
      dataset.images.push_back(
          {name, label, static_cast<int64_t>(image.size()), image.data() - all.data(), file.size()});
    };
    try {
      if (all.empty()) throw std::runtime_error("it is empty");
      found.kind->visit({found.root / file, all, labels, take});
      if (number == 0) throw std::runtime_error("it holds no image");
    } catch (const base::Interrupted&) {
      throw;
    } catch (const std::exception& error) {
      const std::string why = error.what();
      const bool has_next_step = why.find("; ") != std::string::npos;
      throw std::runtime_error(
          fmt::format("{}: after {} images: {}{}", (found.root / file).string(), number, why,
                      has_next_step ? "" : "; restore the file, or move it to another folder"));
    }
  }
  if (labels.by_name() && dataset.classes.empty()) {  // by sorted names, as ImageFolder's
    std::vector<std::string> sorted = labels.names;
    std::sort(sorted.begin(), sorted.end());
    for (ImageEntry& image : dataset.images)
      image.label =
          std::lower_bound(sorted.begin(), sorted.end(), labels.names[size_t(image.label)]) - sorted.begin();
    labels.names = sorted;
  }
  dataset.classes = labels.names;
  for (auto label = static_cast<int64_t>(dataset.classes.size()); label < labels.count(); ++label)
    dataset.classes.push_back(std::to_string(label));
}

Dataset scan_dataset(const fs::path& root, const ScanOptions& options) {
  const Unreadable unreadable = options.unreadable;
  std::error_code error;
  if (!fs::is_directory(root, error)) fail(root, "no such folder");
  Dataset dataset;
  dataset.root = fs::canonical(root);
  if (!is_utf8(dataset.root.string()))
    fail(root, "the absolute path is not valid UTF-8, which index and record files need; rename the folder");
  const auto record = read_standin_record(root);
  if (record && !record->finished)
    throw std::runtime_error(
        fmt::format("{}: this stand-in is unfinished; {}", root.string(), make_again(root, *record)));
  const auto train = dataset.root / "train";
  ClassFolders folders;
  if (fs::is_directory(train)) folders = class_folders(train);
  if (folders.names.empty()) {
    if (const Containers found = containers_in(dataset.root); found.kind && found.kind->visit)
      return scan_containers(std::move(dataset), found, options);
    if (const std::string known = what_to_do_with(root); !known.empty())
      throw std::runtime_error(fmt::format("{}: {}", root.string(), known));
  }
  if (!fs::is_directory(train)) fail(root, "it has no subfolder train");
  dataset.classes = std::move(folders.names);
  if (dataset.classes.empty()) fail(train, "it has no class folders");
  if (!folders.hidden.empty())
    dataset.notes.push_back(fmt::format(
        "{}: {} hidden folders are not counted as classes ({}); torchvision's ImageFolder counts them, so "
        "its class numbers are higher by the number of hidden folders that sort before a class",
        train.string(), folders.hidden.size(), first_of(folders.hidden)));
  add_classes(dataset, "train", unreadable);
  if (dataset.images.empty())
    fail(train, fmt::format("{} class folders hold no image", dataset.classes.size()));
  check_no_class_is_empty(dataset, train, unreadable);
  if (record) {
    dataset.kind = "stand-in";
    dataset.seed = record->seed;
    require_images(record->images, dataset, root, make_again(root, *record));
  }
  dataset.fingerprint = fingerprint_of(dataset);
  return dataset;
}

bool has_validation(const Dataset& train) {
  return is_in_containers(train) ? !containers_in(train.root).validation.empty()
                                 : fs::is_directory(train.root / "val");
}

Dataset scan_validation(const Dataset& train, const ScanOptions& options) {
  const Unreadable unreadable = options.unreadable;
  const fs::path folder = train.root / "val";
  const auto refuse = [&](const std::string& found) {
    throw std::runtime_error(
        fmt::format("{}: {}; expected DIR/val/<class>/<image>.JPEG with the class folders of DIR/train",
                    folder.string(), found));
  };
  Dataset validation = train;
  validation.images.clear();
  validation.notes.clear();
  if (is_in_containers(train)) {
    const Containers found = containers_in(train.root);
    Labels labels = labels_of(found, options, train.classes);
    validation.left_out.clear();
    add_images(validation, found, found.validation, labels, unreadable);
    if (validation.classes.size() > train.classes.size())
      refuse(fmt::format("class {} is not in train, so it can't be learned", validation.classes.back()));
    validation.fingerprint = fingerprint_of(validation);
    return validation;
  }
  const auto names = class_folders(folder).names;
  if (const std::string known = names.empty() ? what_to_do_with(folder) : ""; !known.empty())
    throw std::runtime_error(fmt::format("{}: {}", folder.string(), known));
  if (names.empty()) refuse("it has no class folders");
  for (const std::string& name : names)
    if (!std::binary_search(train.classes.begin(), train.classes.end(), name))
      refuse(fmt::format("class folder {} is not in train, so it can't be learned", name));
  add_classes(validation, "val", unreadable);
  for (const std::string& name : names) {
    if (unreadable == Unreadable::left_out) break;
    const auto label =
        std::lower_bound(train.classes.begin(), train.classes.end(), name) - train.classes.begin();
    if (std::none_of(validation.images.begin(), validation.images.end(),
                     [&](const ImageEntry& image) { return image.label == label; }))
      refuse(fmt::format("class folder {} holds no image", name));
  }
  if (const auto record = read_standin_record(train.root))
    require_images(record->validation, validation, folder, make_again(train.root, *record));
  validation.fingerprint = fingerprint_of(validation);
  return validation;
}

}  // namespace bench
