// The table of kinds, and how a folder's files are divided into kinds and parts.
#include "bench/dataset/containers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "bench/dataset/image_files.h"
#include "bench/formats/optional_libraries.h"
#include "harness/base/plain_text.h"

namespace bench {

#ifndef HAVE_LIBARCHIVE
void visit_tar(const Container&) { throw std::runtime_error(kNoLibarchive); }
#endif
#ifndef HAVE_ARROW
void visit_arrow(const Container&) { throw std::runtime_error(kNoArrow); }
void visit_parquet(const Container&) { throw std::runtime_error(kNoArrow); }
#endif
#ifndef HAVE_TFRECORD
void visit_tfrecord(const Container&) { throw std::runtime_error(kNoTfRecord); }
#endif

namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostClasses = int64_t{1} << 20;

// The first with a matching ending counts.
const std::vector<ContainerKind> kKinds = {
    {"tar", {".tar"}, visit_tar, "webdataset", "write it as plain files, without holes"},
    {"compressed tar",
     {".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.zst"},
     nullptr,
     "",
     "decompress all with `gunzip`, `bunzip2`, `unxz` or `unzstd`: .tar files are read in place"},
    {"zip",
     {".zip"},
     nullptr,
     "",
     "unpack it, `unzip {0} -d OUT`, then use --data OUT or the folder in it that holds train"},
    {"Parquet",
     {".parquet"},
     visit_parquet,
     "parquet",
     "write them without compression, `.venv/bin/python bench/dataset/converted.py parquet {} OUT`, then use "
     "--data OUT"},
    {"Arrow",
     {".arrow"},
     visit_arrow,
     "arrow",
     "write it without compression: datasets' save_to_disk does, pyarrow's IpcWriteOptions have it as default"},
    {"TFRecord", {".tfrecord", ".tfrecords"}, visit_tfrecord, "tfrecords", "write it without compression"},
    {"MDS",
     {".mds", ".mds.zstd", ".mds.zst", ".mds.gz"},
     nullptr,
     "",
     "MosaicML's Python package alone reads them: `pip install mosaicml-streaming`, then `python3 "
     "bench/dataset/converted.py mds {} OUT` and --data OUT"},
    {"LMDB",
     {".mdb", ".lmdb"},
     nullptr,
     "",
     "folder2lmdb puts pickled Python objects into it, which Python alone reads: `pip install lmdb`, then "
     "`python3 bench/dataset/converted.py lmdb {} OUT` and --data OUT"},
};

const ContainerKind* kind_of(const std::string& name) {
  for (const ContainerKind& kind : kKinds)
    for (const std::string_view ending : kind.endings)
      if (name.ends_with(ending)) return &kind;
  const auto digits = name.find_last_not_of("0123456789");  // TensorFlow's train-00000-of-01024
  const bool numbered = digits != std::string::npos && name.substr(0, digits + 1).ends_with("-of-");
  return numbered && digits + 1 < name.size() ? kind_of(".tfrecord") : nullptr;
}

bool has_word(const std::string& path, const std::set<std::string>& words) {
  std::string word;
  for (const char letter : path + '/')
    if (std::isalnum(static_cast<unsigned char>(letter)))
      word += letter;
    else if (words.contains(std::exchange(word, "")))
      return true;
  return false;
}

// Files or folders, without hidden ones, sorted.
std::vector<fs::path> entries_of(const fs::path& folder, bool folders) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (std::error_code gone; it->path().filename().string()[0] != '.' &&
                              (folders ? it->is_directory(gone) : it->is_regular_file(gone)))
      found.push_back(it->path());
  std::sort(found.begin(), found.end());
  return found;
}

bool holds_images(const fs::path& folder) {
  const auto files = entries_of(folder, false);
  return std::any_of(files.begin(), files.end(), [](const fs::path& file) { return is_decoded(file); });
}

}  // namespace

Labels::Labels(std::vector<std::string> known) : names(std::move(known)) {
  for (const std::string& name : names) number_of_.emplace(name, static_cast<int64_t>(number_of_.size()));
}

int64_t Labels::numbered(int64_t label) {
  if (by_ == By::name)
    throw std::runtime_error(
        fmt::format("it has the class number {}, but images before it have class names", label));
  by_ = By::number;
  const int64_t end = first + (names.empty() ? kMostClasses : static_cast<int64_t>(names.size()));
  if (label < first || label >= end)
    throw std::runtime_error(
        fmt::format("its label is {}, not {} to {}{}", label, first, end - 1,
                    label == -1 ? " (-1 is the usual mark of a part without labels)" : ""));
  most_ = std::max(most_, label - first);
  return label - first;
}

int64_t Labels::named(const std::string& name) {
  if (by_ == By::number)
    throw std::runtime_error("it has no class number, but images before it have; is a .cls file missing?");
  by_ = By::name;
  const auto [found, added] = number_of_.emplace(name, static_cast<int64_t>(names.size()));
  if (added) names.push_back(name);
  return found->second;
}

Containers containers_in(const fs::path& place) {
  Containers found;
  std::error_code error;
  const bool single = fs::is_regular_file(place, error);
  found.root = single ? place.parent_path() : place;
  std::map<const ContainerKind*, std::vector<fs::path>> by_kind;
  const auto add = [&](const fs::path& file) {
    const std::string name = in_lower_case(file.filename());
    if (const ContainerKind* kind =
            name.starts_with("cache-") ? nullptr : kind_of(name))  // of datasets' map()
      by_kind[kind].push_back(file);
  };
  if (single) add(place);
  for (const char* folder : {"", "data", "train", "val", "validation", "test"})
    if (!single)
      for (const fs::path& file : entries_of(place / folder, false)) add(file);
  std::vector<std::string> kinds;
  for (const auto& [kind, files] : by_kind) {
    kinds.push_back(
        fmt::format("{} {} files (e.g. {})", files.size(), kind->name, files[0].filename().string()));
    found.kind = kind;
    for (const fs::path& file : files) {
      const std::string path = file.lexically_relative(found.root).string(), words = in_lower_case(path);
      (has_word(words, {"val", "valid", "validation", "dev"}) ? found.validation
       : has_word(words, {"test"})                            ? found.test
                                                              : found.train)
          .push_back(path);
    }
  }
  if (kinds.size() > 1)
    throw std::runtime_error(
        fmt::format("{}: it holds {}; expected one kind: move the others to another folder", place.string(),
                    fmt::join(kinds, " and ")));
  return found;
}

std::string what_to_do_with(const fs::path& place) {
  const std::string path = (fs::absolute(place) / "").lexically_normal().parent_path().string();
  const std::string above = fs::path(path).parent_path().string();
  std::error_code error;
  const bool single = fs::is_regular_file(place, error);
  if (const Containers found = containers_in(place); found.kind)
    return fmt::format(
        "it {} {} {}; {}{}", single ? "is a single" : "holds", found.kind->name, single ? "file" : "files",
        single && found.kind->visit ? fmt::format("use --data {} to read it in place, or ", above) : "",
        fmt::format(fmt::runtime(found.kind->next_step), path));
  if (single) return "it is a file; expected the folder that holds train/<class>/<image>.JPEG";
  auto folders = entries_of(place, true);
  std::erase_if(folders, [](const fs::path& folder) { return !holds_images(folder); });
  const size_t classes = folders.size();
  if (classes > 0 && fs::path(path).filename() == "train")
    return fmt::format("it is itself the folder train; use --data {}", above);
  // Among class folders, `train` is the class of trains.
  if (classes > 0 && std::all_of(folders.begin(), folders.end(), [](const fs::path& folder) {
        return std::set<std::string>{"train", "val", "validation", "test"}.contains(folder.filename());
      }))
    return fmt::format(
        "{} holds images directly; expected one folder for each class: {}/train/CLASS/IMAGE.jpg",
        folders[0].string(), path);
  if (classes > 0)
    return fmt::format(
        "it holds {}, to be in a folder train; `mkdir OUT && ln -s {} OUT/train`, then use --data OUT",
        base::counted(int64_t(classes), "class folder"), path);
  if (holds_images(place))
    return fmt::format(
        "it holds images without class folders, so their classes are unknown; with a FILE of lines `image "
        "class`: `while read image class; do mkdir -p OUT/$class; ln -s {}/$image OUT/$class/; done "
        "<FILE`",
        path);
  return "";
}

}  // namespace bench
