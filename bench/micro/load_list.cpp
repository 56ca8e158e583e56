// load_list: loads the images of a list with given crop boxes, to compare speed and pixels with other
// loaders. Prints `ready`, then reads commands from standard input: `go` loads the list once in full batches
// (the last one wraps around) and prints `<images> <seconds>`; `dump PATH K` writes the first K images as raw
// values and prints `done`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "bench/image/decode.h"
#include "bench/loading/loader/loader.h"
#include "bench/micro/images.h"
#include "harness/base/number.h"
#include "harness/base/program_start.h"

namespace {

using namespace bench;
constexpr int kSide = 224;

struct List {
  std::vector<ImageEntry> images;
  std::vector<Augmentation> augmentations;
};

// path TAB x TAB y TAB w TAB h TAB flip: the last five fields are numbers, so the path may contain tabs.
void add_line(const std::string& line, List& list) {
  int numbers[5];
  size_t end = line.size();
  for (int i = 4; i >= 0; --i) {
    const size_t tab = line.rfind('\t', end - 1);
    if (tab == std::string::npos || tab == 0 || end == 0)
      throw std::runtime_error("expected path and five numbers");
    const std::string text = line.substr(tab + 1, end - tab - 1);
    const auto number = base::number_of<int>(text);
    if (!number || *number < 0) throw std::runtime_error("expected a number of at least 0, found " + text);
    numbers[i] = *number;
    end = tab;
  }
  if (numbers[4] > 1) throw std::runtime_error("flip is neither 0 nor 1");
  list.images.push_back({line.substr(0, end), 0, 0});
  list.augmentations.push_back({{numbers[0], numbers[1], numbers[2], numbers[3]}, numbers[4] == 1});
}

List read_list(const std::filesystem::path& file) {
  std::ifstream stream(file);
  List list;
  int64_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    try {
      add_line(line, list);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(fmt::format("{}:{}: {}; lines are path TAB x TAB y TAB w TAB h TAB flip",
                                           file.string(), number, error.what()));
    }
  }
  if (list.images.empty()) throw std::runtime_error(file.string() + " can't be read or lists no images");
  return list;
}

// Times from the threads' start to the last batch; allocating the ring is not timed.
void load_once(Storage& storage, const LoaderOptions& options) {
  const int64_t batches = (storage.size() + options.batch_size - 1) / options.batch_size;
  const auto loader = make_loader(storage, options);
  const Stopwatch watch;
  loader->start();
  for (int64_t i = 0; i < batches; ++i) loader->release(loader->next());
  const double seconds = watch.seconds();
  for (const std::string& warning : loader->stats().warnings) fmt::print(stderr, "load_list: {}\n", warning);
  fmt::print("{} {:.6f}\n", batches * options.batch_size, seconds);
}

void dump(Storage& storage, const List& list, const std::string& path, size_t images, BatchFormat format) {
  std::ofstream out(path, std::ios::binary);
  const auto reader = storage.reader();
  Decoder decoder;
  std::vector<char> image(size_t(bytes_per_image(format, kSide)));
  for (size_t i = 0; i < std::min(images, list.images.size()); ++i) {
    decoder.crop(reader->read(int64_t(i)), list.augmentations[i], kSide, format, image.data());
    out.write(image.data(), std::streamsize(image.size()));
  }
  if (!out.flush()) throw std::runtime_error(path + " can't be written");
}

}  // namespace

int main(int count, char** arguments) {
  base::start_program();
  CLI::App app{
      "Loads the images of a list with given crop boxes; reads the commands `go` and `dump PATH K` from "
      "standard input."};
  std::filesystem::path file;
  LoaderOptions options;
  options.batch_size = 64;
  std::string output = "float32";
  app.add_option("--list", file, "lines: path TAB x TAB y TAB w TAB h TAB flip")
      ->required()
      ->type_name("FILE");
  app.add_option("--threads", options.threads, "loader threads")
      ->check(CLI::Range(1, 512))
      ->capture_default_str();
  app.add_option("--batch", options.batch_size, "images per batch")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  app.add_option("--output", output, "format of a batch")
      ->check(CLI::IsMember({"float32", "channels_last", "uint8"}))
      ->capture_default_str();
  CLI11_PARSE(app, count, arguments);
  try {
    List list = read_list(file);
    Dataset dataset;
    dataset.root = "/";
    dataset.images = list.images;
    for (ImageEntry& image : dataset.images)
      image.path = std::filesystem::absolute(image.path).string().substr(1);
    const auto storage = StorageRegistry::instance().find("files")({dataset, "", true, {}});
    options.image_px = kSide;
    options.format = batch_format(output);
    options.sampler = {storage->size(), Order::in_order};
    options.augmentations = &list.augmentations;
    fmt::print("ready\n");
    std::fflush(stdout);
    for (std::string word; std::cin >> word;) {
      std::string path;
      size_t images = 0;
      if (word == "go") {
        load_once(*storage, options);
      } else if (word == "dump" && std::cin >> path >> images) {
        dump(*storage, list, path, images, options.format);
        fmt::print("done\n");
      } else {
        throw std::runtime_error(fmt::format("`{}` on standard input: expected `go` or `dump PATH K`", word));
      }
      std::fflush(stdout);
    }
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "load_list: {}\n", error.what());
    return 2;
  }
}
