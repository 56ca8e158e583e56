// Generates the missing images of a stand-in with several threads. A file that exists counts as made.
#include "bench/dataset/standin.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <future>
#include <stdexcept>
#include <vector>

#include "bench/dataset/progress_line.h"
#include "bench/dataset/scan.h"
#include "bench/dataset/standin_image.h"
#include "bench/dataset/standin_record.h"
#include "harness/base/file.h"
#include "harness/base/file_lock.h"
#include "harness/base/interrupt.h"
#include "harness/base/process_limits.h"
#include "harness/base/stopwatch.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

int64_t files_of(const StandinOptions& options) { return options.images + options.validation; }

ImagePlan plan_of(const StandinOptions& options, int64_t index) {
  return options.validation > 0 ? plan_learnable_image(options.seed, index, options.images, options.classes)
                                : plan_image(options.seed, index, options.classes);
}

StandinRecord record_of(const StandinOptions& options) {
  return {.seed = options.seed,
          .images = options.images,
          .classes = options.classes,
          .validation = options.validation};
}

std::string words(const StandinRecord& record) {
  return fmt::format("{} images, {} classes, seed {}{}", record.images, record.classes, record.seed,
                     record.validation > 0 ? fmt::format(", {} images to validate", record.validation) : "");
}

// True if a finished set with these options exists. Throws std::runtime_error if the folder holds anything
// else.
bool check_folder(const StandinOptions& options, bool& outdated) {
  const auto record = read_standin_record(options.out);
  if (!record) {
    if (fs::exists(options.out / "train"))
      throw std::runtime_error(
          fmt::format("{} exists but is not a stand-in (no standin.json); choose another --out",
                      (options.out / "train").string()));
    return false;
  }
  if (const std::string found = words(*record), asked = words(record_of(options)); found != asked)
    throw std::runtime_error(
        fmt::format("{} holds a stand-in of {}, but {} were requested; choose another --out or remove it",
                    options.out.string(), found, asked));
  outdated = record->version != kStandinVersion;
  return record->finished && !outdated;
}

std::vector<int64_t> missing_images(const StandinOptions& options) {
  std::vector<int64_t> missing;
  for (int64_t i = 0; i < files_of(options); ++i) {
    std::error_code error;
    const auto size = fs::file_size(options.out / plan_of(options, i).path, error);
    if (error || size == 0)
      missing.push_back(i);  // empty: the machine crashed before the file reached the disk
  }
  return missing;
}

void write_images(const StandinOptions& options, const std::vector<int64_t>& missing) {
  const auto total = static_cast<int64_t>(missing.size());
  std::atomic<int64_t> next{0}, done{0}, bytes{0};
  const auto work = [&] {
    try {
      ImageMaker maker;
      for (int64_t i; !base::interrupted() && (i = next++) < total;) {
        const auto plan = plan_of(options, missing[i]);
        const auto content = maker.make(plan);
        base::write_whole_file(options.out / plan.path, content);
        bytes += static_cast<int64_t>(content.size());
        ++done;
      }
    } catch (...) {
      next = total;  // ends the others
      throw;
    }
  };
  const int threads = options.threads > 0 ? options.threads : std::max(1, int(base::available_cpus().size()));
  std::vector<std::future<void>> workers;
  for (int t = 0; t < threads; ++t) workers.push_back(std::async(std::launch::async, work));
  {
    ProgressLine progress("standin", total);
    for (const auto& worker : workers)
      while (worker.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready)
        progress.update(done, bytes);
    progress.update(done, bytes);
  }
  for (auto& worker : workers) worker.get();
  base::stop_if_interrupted();
}

void flush_disk(const fs::path& folder) {
  const base::Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.number() < 0 || ::syncfs(opened.number()) != 0) base::throw_write_error(folder, errno);
}

}  // namespace

StandinResult make_standin(const StandinOptions& options) {
  if (options.images < 1) throw std::runtime_error("--images must be at least 1");
  if (options.classes < 1) throw std::runtime_error("--classes must be at least 1");
  if (options.validation > 0 && options.classes > kLearnableClasses)
    throw std::runtime_error(
        fmt::format("--classes must be at most {} with --validation", kLearnableClasses));
  base::make_folder(options.out);
  const base::FileLock lock =
      base::FileLock::of_folder(options.out);  // two programs may make the same images
  if (!lock.holds()) base::stop_if_interrupted();
  bool outdated = false;
  const bool finished = check_folder(options, outdated);
  if (!finished && lock.holds()) base::remove_drafts(options.out);
  if (outdated)  // before the record is rewritten: files of the old version must not be kept
    for (const char* part : {"train", "val"}) fs::remove_all(options.out / part);
  const auto missing = missing_images(options);
  if (finished && missing.empty()) return {};

  const int64_t bytes_per_image =
      options.validation > 0 ? 16'000 : 122'000;  // ImageNet's 114.7 KB and a block
  base::require_room(options.out, static_cast<int64_t>(missing.size()) * bytes_per_image + 4'000'000,
                     "the stand-in");
  StandinRecord record = record_of(options);
  write_standin_record(options.out, record);
  const auto make_class_folders = [&](int64_t first, int64_t images) {
    for (int64_t c = 0; c < std::min(options.classes, images); ++c)
      base::make_folder(options.out / fs::path(plan_of(options, first + c).path).parent_path());
  };
  make_class_folders(0, options.images);
  make_class_folders(options.images, options.validation);

  const base::Stopwatch watch;
  write_images(options, missing);
  flush_disk(options.out);
  const double seconds = watch.s();
  record.finished = true;
  write_standin_record(options.out, record);
  return {static_cast<int64_t>(missing.size()), seconds};
}

}  // namespace bench
