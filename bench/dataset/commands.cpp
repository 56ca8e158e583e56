// Connects the command line with scanning, packing and pruning, and prints their results.
#include "bench/dataset/commands.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>

#include "bench/dataset/pack.h"
#include "harness/base/file.h"
#include "harness/base/file_lock.h"
#include "harness/base/interrupt.h"
#include "harness/base/say.h"
#include "harness/contract/dataset.h"
#include "harness/contract/record_parts.h"

namespace bench {

namespace fs = std::filesystem;

static void say_notes(const Dataset& dataset) {
  for (const std::string& note : dataset.notes) base::say("make_dataset: note: {}\n", note);
}

// Those of copies are of their packers, which may be writing them now.
static void remove_drafts_of_lists(const fs::path& folder) {
  std::error_code gone;
  for (const fs::path& entry : base::entries_of(folder))
    if (is_list(entry.filename()) && entry.extension() == ".partial") fs::remove(entry, gone);
}

// The file that lists these images; another one where the same images are listed elsewhere, because a run may
// be reading them from there.
static fs::path list_of(const Dataset& dataset, const fs::path& folder, const std::string& name) {
  const fs::path usual = folder / (name + ".tsv");
  const std::string root = root_of_index(usual), own = dataset.root;
  if (root.empty() || root == own) return usual;
  return folder / fmt::format("{}-{:016x}.tsv", name, XXH3_64bits(own.data(), own.size()));
}

void run_standin(const StandinOptions& options) {
  const auto result = make_standin(options);
  if (result.written == 0)
    base::say("{}: the finished stand-in already exists, nothing to do\n", options.out.string());
  else
    base::say("{}: wrote {} images in {:.1f} s, {:.0f} images/s\n", options.out.string(), result.written,
              result.seconds, result.written / result.seconds);
}

void run_index(const fs::path& data, const fs::path& store, bool validation, const ScanOptions& options) {
  const auto dataset = scan_dataset(data, options);
  say_notes(dataset);
  const fs::path folder = store / dataset.fingerprint;
  base::make_folder(folder);
  const base::FileLock lock = base::FileLock::of_folder(folder);  // another run may index the same images
  if (!lock.holds()) base::stop_if_interrupted();
  if (lock.holds()) remove_drafts_of_lists(folder);
  const fs::path file = list_of(dataset, folder, "index");
  write_index(dataset, file);
  harness::IndexAnswer answer{file.string(), ""};
  harness::RecordData facts;
  facts.fingerprint = dataset.fingerprint;
  facts.images = dataset.images.size();
  facts.bytes = dataset.total_bytes();
  facts.classes = dataset.classes.size();
  facts.kind = dataset.kind;
  facts.seed = dataset.seed;
  facts.skipped = dataset.skipped;
  facts.left_out = dataset.left_out;
  if (validation && has_validation(dataset)) {
    const auto images = scan_validation(dataset, options);
    say_notes(images);
    const fs::path list = list_of(images, folder, "validation-" + images.fingerprint);
    write_index(images, list);
    answer.validation = list.string();
    facts.validation_images = images.images.size();
  }
  nlohmann::json line = harness::encode(answer);
  line.update(harness::encode(facts));
  fmt::print("{}\n", line.dump());
}

void run_pack(const fs::path& index, const std::string& to, const fs::path& store) {
  PackRequest request;
  request.dataset = read_index(index);
  request.folder = store / request.dataset.fingerprint;
  base::make_folder(request.folder);
  const auto result = request.dataset.kind == to ? PackResult{request.dataset.root, "read in place"}
                                                 : PackRegistry::instance().find(to)(request);
  const harness::PackAnswer answer{result.location.string(), result.note, result.made_in_s};
  fmt::print("{}\n", harness::encode(answer).dump());
}

void run_prune(const PruneRequest& request) {
  int64_t removed = 0, kept = 0;
  for (const PrunedFolder& one : prune(request)) {
    const std::string what = fmt::format("{} ({:.3f} GB{})", one.folder.string(), one.bytes / 1e9,
                                         one.data.empty() ? "" : ", of " + one.data);
    if (one.kept.empty())
      fmt::print("{} {}\n", request.dry_run ? "would remove" : "removed", what);
    else
      fmt::print("kept {}: {}\n", what, one.kept);
    (one.kept.empty() ? removed : kept) += one.bytes;
  }
  fmt::print("{}: {} {:.3f} GB, kept {:.3f} GB\n", request.store.string(),
             request.dry_run ? "would remove" : "removed", removed / 1e9, kept / 1e9);
}

std::vector<std::string> pack_destinations() {
  std::vector<std::string> names;
  for (const auto& value : registered_values())
    if (value.axis == "pack") names.push_back(value.name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace bench
