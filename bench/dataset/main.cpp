// make_dataset: makes a stand-in ImageNet; indexes, packs data sets; prunes packed copies.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <string>

#include "bench/dataset/commands.h"
#include "harness/base/failure_text.h"
#include "harness/base/file.h"
#include "harness/base/interrupt.h"
#include "harness/base/program_start.h"
#include "harness/base/say.h"
#include "harness/contract/machine.h"

using namespace bench;
namespace fs = std::filesystem;

int main(int count, char** arguments) {
  base::start_program();
  CLI::App app{"Makes, lists and packs sets of images."};
  app.set_version_flag(
      "--version", [] { return harness::encode(harness::describe_build()).dump(); },
      "print the build as JSON");
  app.require_subcommand(1);

  StandinOptions options;
  auto* standin = app.add_subcommand("standin", "write a stand-in ImageNet to DIR/train");
  standin->add_option("--out", options.out, "folder to write to")->required()->type_name("DIR");
  standin->add_option("--images", options.images, "number of images")
      ->required()
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 32));
  standin->add_option("--classes", options.classes, "number of class folders")
      ->check(CLI::Range(int64_t{1}, int64_t{99'999'999}))
      ->capture_default_str();
  standin->add_option("--seed", options.seed, "random seed; each seed gives other images")
      ->capture_default_str();
  standin->add_option("--threads", options.threads, "number of threads; 0: one per core")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  standin
      ->add_option(
          "--validation", options.validation,
          "for accuracy measurements: number of images in DIR/val; makes the classes learnable but not "
          "perfectly separable")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  standin->callback([&] { run_standin(options); });

  fs::path data, store, index_file;
  auto* index = app.add_subcommand("index", "list the images of DIR/train in STORE/<fingerprint>/index.tsv");
  index->add_option("--data", data, "folder that holds train")->required()->type_name("DIR");
  index->add_option("--store", store, "folder for indexes and packed copies")->required()->type_name("DIR");
  bool validation = false;
  index->add_flag("--validation", validation, "also index the images of DIR/val, if it exists");
  ScanOptions scanning;
  index->add_flag_callback(
      "--skip-unreadable", [&] { scanning.unreadable = Unreadable::left_out; },
      "leave out images in formats that are not decoded here (BMP, PGM, PPM, TIFF, WebP) and allow classes "
      "without images");
  index->add_option("--labels-from", scanning.labels_from, "number of the first class in TFRecords")
      ->check(CLI::Range(int64_t{0}, int64_t{1}));
  index->callback([&] { run_index(data, store, validation, scanning); });

  std::string to;
  auto* pack = app.add_subcommand("pack", "copy a data set into the form that a storage reads");
  pack->add_option("--index", index_file, "index.tsv of the data set")->required()->type_name("FILE");
  pack->add_option("--to", to, "storage that will read the copy")
      ->required()
      ->check(CLI::IsMember(pack_destinations()));
  pack->add_option("--store", store, "the same as for index")->required()->type_name("DIR");
  pack->callback([&] { run_pack(index_file, to, store); });

  PruneRequest unwanted;
  auto* pruning = app.add_subcommand("prune", "remove packed copies that no run uses");
  pruning->add_option("--store", unwanted.store, "the same as for pack")->required()->type_name("DIR");
  pruning->add_option("--keep", unwanted.keep, "fingerprint of a data set whose copies stay; may be repeated")
      ->allow_extra_args(false)
      ->type_name("FINGERPRINT");
  pruning->add_flag("--dry-run", unwanted.dry_run, "say what would be removed");
  pruning->callback([&] { run_prune(unwanted); });

  base::note_interrupts();
  try {
    app.parse(count, arguments);
    if (std::fflush(stdout)) base::throw_write_error("standard output", errno);
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const base::Interrupted&) {
    base::say("make_dataset: interrupted; run the same command again to continue\n");
    return 130;
  } catch (const std::exception& error) {
    base::say("make_dataset: {}\n", base::failure_text(error));
    return 2;
  }
}
