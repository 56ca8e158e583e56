// make_dataset: makes a stand-in ImageNet, lists a data set's images, packs them for a storage, describes
// them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/dataset/describe.h"
#include "bench/dataset/interrupt.h"
#include "bench/dataset/pack.h"
#include "bench/dataset/prune.h"
#include "bench/dataset/scan.h"
#include "bench/dataset/standin.h"
#include "harness/base/failure_text.h"
#include "harness/base/file.h"
#include "harness/base/program_start.h"
#include "harness/base/say.h"

namespace {

using namespace bench;
namespace fs = std::filesystem;

void run_standin(const StandinOptions& options) {
  const auto result = make_standin(options);
  if (result.written == 0)
    base::say("{}: the finished stand-in is there already, nothing to do\n", options.out.string());
  else
    base::say("{}: wrote {} images in {:.1f} s, {:.0f} images/s\n", options.out.string(), result.written,
              result.seconds, result.written / result.seconds);
  fmt::print("{}", result.description);
}

void say_notes(const Dataset& dataset) {
  for (const std::string& note : dataset.notes) base::say("make_dataset: note: {}\n", note);
}

void run_index(const fs::path& data, const fs::path& store, bool validation, Unreadable unreadable) {
  const auto dataset = scan_dataset(data, unreadable);
  say_notes(dataset);
  const auto file = store / dataset.fingerprint / "index.tsv";
  write_index(dataset, file);
  nlohmann::ordered_json line{{"index", file.string()},
                              {"fingerprint", dataset.fingerprint},
                              {"images", dataset.images.size()},
                              {"bytes", dataset.total_bytes()},
                              {"classes", dataset.classes.size()},
                              {"kind", dataset.kind},
                              {"seed", dataset.seed},
                              {"skipped", dataset.skipped}};
  if (!dataset.left_out.empty()) line["left_out"] = dataset.left_out;
  if (validation && has_validation(dataset)) {
    const auto images = scan_validation(dataset, unreadable);
    say_notes(images);
    const auto list = store / dataset.fingerprint / fmt::format("validation-{}.tsv", images.fingerprint);
    write_index(images, list);
    line["validation"] = list.string();
    line["validation_images"] = images.images.size();
  }
  fmt::print("{}\n", line.dump());
}

void run_pack(const fs::path& index, const std::string& to, const fs::path& store, int64_t limit) {
  PackRequest request;
  request.dataset = read_index(index);
  if (limit > 0 && limit < static_cast<int64_t>(request.dataset.images.size())) {
    request.dataset.images.resize(limit);
    request.whole = false;
  }
  request.folder = store / request.dataset.fingerprint;
  base::make_folder(request.folder);
  const auto result = PackRegistry::instance().find(to)(request);
  fmt::print("{}\n",
             nlohmann::ordered_json{{"location", result.location.string()}, {"note", result.note}}.dump());
}

void run_describe(const fs::path& data, Unreadable unreadable) {
  const auto dataset = scan_dataset(data, unreadable);
  say_notes(dataset);
  fmt::print("{}", describe(dataset));
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

std::vector<std::string> destinations() {
  std::vector<std::string> names;
  for (const auto& value : registered_values())
    if (value.axis == "pack") names.push_back(value.name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

int main(int count, char** arguments) {
  base::start_program();
  CLI::App app{"Makes, lists, packs and describes sets of images."};
  app.require_subcommand(1);

  StandinOptions options;
  auto* standin = app.add_subcommand("standin", "write a stand-in ImageNet to DIR/train");
  standin->add_option("--out", options.out, "folder to write to")->required()->type_name("DIR");
  standin->add_option("--images", options.images, "how many")
      ->required()
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 32));
  standin->add_option("--classes", options.classes, "how many class folders")
      ->check(CLI::Range(int64_t{1}, int64_t{99'999'999}))
      ->capture_default_str();
  standin->add_option("--seed", options.seed, "another seed, other images")->capture_default_str();
  standin->add_option("--threads", options.threads, "0: all cores")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  standin
      ->add_option(
          "--validation", options.validation,
          "for measuring accuracy: this many images in DIR/val, and classes that can be learned but not all "
          "told apart")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  standin->callback([&] { run_standin(options); });

  fs::path data, store, index_file;
  auto* index = app.add_subcommand("index", "list the images of DIR/train in STORE/<fingerprint>/index.tsv");
  index->add_option("--data", data, "folder that holds train")->required()->type_name("DIR");
  index->add_option("--store", store, "folder for everything that is derived from data")
      ->required()
      ->type_name("DIR");
  bool validation = false;
  index->add_flag("--validation", validation, "the images of DIR/val too, where that is");
  Unreadable unreadable = Unreadable::refused;
  const auto add_skip_unreadable = [&](CLI::App* command) {
    command->add_flag_callback(
        "--skip-unreadable", [&] { unreadable = Unreadable::left_out; },
        "leave out images in formats that are not decoded here (BMP, PGM, PPM, TIFF, WebP), and let classes "
        "be "
        "without images");
  };
  add_skip_unreadable(index);
  index->callback([&] { run_index(data, store, validation, unreadable); });

  std::string to;
  int64_t limit = 0;
  auto* pack = app.add_subcommand("pack", "copy a data set into the form that a storage reads");
  pack->add_option("--index", index_file, "index.tsv of the data set")->required()->type_name("FILE");
  pack->add_option("--to", to, "storage to pack for")->required()->check(CLI::IsMember(destinations()));
  pack->add_option("--store", store, "the same as for index")->required()->type_name("DIR");
  pack->add_option("--limit", limit, "only the first N images; 0: all")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  pack->callback([&] { run_pack(index_file, to, store, limit); });

  auto* about = app.add_subcommand("describe", "print the measured distribution of a data set");
  about->add_option("--data", data, "folder that holds train")->required()->type_name("DIR");
  add_skip_unreadable(about);
  about->callback([&] { run_describe(data, unreadable); });

  PruneRequest unwanted;
  auto* pruning = app.add_subcommand("prune", "remove packed copies that no run uses");
  pruning->add_option("--store", unwanted.store, "the same as for pack")->required()->type_name("DIR");
  pruning->add_option("--keep", unwanted.keep, "fingerprint of a data set whose copies stay; may be repeated")
      ->allow_extra_args(false)
      ->type_name("FINGERPRINT");
  pruning->add_flag("--dry-run", unwanted.dry_run, "say what would be removed");
  pruning->callback([&] { run_prune(unwanted); });

  catch_interrupts();
  try {
    app.parse(count, arguments);
    if (std::fflush(stdout)) base::throw_write_error("standard output", errno);
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const Interrupted&) {
    base::say("make_dataset: interrupted; run the same command again to go on\n");
    return 130;
  } catch (const std::exception& error) {
    base::say("make_dataset: {}\n", base::failure_text(error));
    return 2;
  }
}
