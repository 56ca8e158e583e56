// unit: images within tars, Arrow, Parquet and TFRecord files of other tools are listed, read in place and
// packed as their source folder says, and what can't be used is named with the next step
#include "bench/dataset/containers.h"

#include <gtest/gtest.h>

#include "bench/dataset/scan.h"
#include "tests/support/failure_of.h"
#include "tests/support/stored_images.h"

namespace bench::containers_test {

namespace fs = std::filesystem;

constexpr int kImages = 21, kValidation = 5;

// The inputs are written by Python's tarfile and pyarrow, not by the libraries that read them here; once for
// all tests.
struct Inputs {
  TemporaryFolder folder;
  Dataset source = small_dataset(folder.path() / "src", kImages), validation;
  bool made = false;

  Inputs() {
    validation = source;
    validation.images.clear();
    for (int i = 0; i < kValidation; ++i) {
      const std::string path = "val/" + source.classes[size_t(i % 2)] + "/v" + std::to_string(i) + ".JPEG";
      const Bytes bytes = small_jpeg(40, 30, uint32_t(100 + i));
      write_bytes(source.root / path, bytes);
      validation.images.push_back({path, i % 2, int64_t(bytes.size())});
    }
    std::sort(validation.images.begin(), validation.images.end(),
              [](const auto& a, const auto& b) { return a.path < b.path; });
    const std::string python = SOURCE_DIR "/.venv/bin/python";
    made = fs::exists(python) && ::system((python + " " SOURCE_DIR "/tests/dataset/write_containers.py " +
                                           source.root.string() + " " + (folder.path() / "in").string())
                                              .c_str()) == 0;
  }
};

class Containers : public testing::Test {
 protected:
  void SetUp() override {
    if (!inputs().made) GTEST_SKIP() << "no pyarrow in .venv, which writes the inputs";
  }
  static const Inputs& inputs() {
    static const Inputs once;
    return once;
  }
  static fs::path in(const std::string& name) { return inputs().folder.path() / "in" / name; }
  static void expect_same(Storage& storage, const Dataset& dataset, const Dataset& source) {
    ASSERT_EQ(dataset.images.size(), source.images.size());
    const auto reader = storage.reader();
    for (size_t i = 0; i < source.images.size(); ++i) {
      expect_record(reader->read(int64_t(i)), source, int64_t(i));
      EXPECT_EQ(dataset.images[i].label, source.images[i].label) << i;
    }
  }
  static std::unique_ptr<Storage> open(const std::string& storage, const Dataset& dataset,
                                       const fs::path& location) {
    return open_storage(storage, {dataset, location, true, {}});
  }
  static std::string problem(const std::string& name, const ScanOptions& options = {}) {
    return failure_of([&] { scan_dataset(in(name), options); });
  }
};

struct Form {
  const char* folder;
  const char* kind;
  bool validation, names;
};

TEST_F(Containers, AreReadInPlaceAndPackedAsTheirSource) {
  for (const Form& form :
       {Form{"webdataset", "webdataset", true, false}, Form{"class_tars", "webdataset", false, true},
        Form{"nested", "webdataset", false, true}, Form{"one_tar", "webdataset", false, true},
        Form{"parquet", "parquet", true, true}, Form{"arrow", "arrow", true, true}}) {
    SCOPED_TRACE(form.folder);
    const Dataset dataset = scan_dataset(in(form.folder));
    EXPECT_EQ(dataset.kind, form.kind);
    EXPECT_EQ(dataset.classes, form.names ? inputs().source.classes : (std::vector<std::string>{"0", "1"}));
    write_index(dataset, in(form.folder) / ".index.tsv");
    const Dataset listed = read_index(in(form.folder) / ".index.tsv");
    for (const char* storage : {"files", form.kind}) {
      const auto opened = open(storage, listed, dataset.root);
      EXPECT_EQ(opened->used(), storage);
      expect_same(*opened, listed, inputs().source);
      const auto files = opened->cached_files({0, 1, 20});
      EXPECT_LE(files.size(), 3u);
      for (const fs::path& file : files) EXPECT_TRUE(fs::is_regular_file(file)) << file;
    }
    ASSERT_EQ(has_validation(dataset), form.validation);
    if (form.validation) {
      const Dataset images = scan_validation(dataset);
      expect_same(*open("files", images, ""), images, inputs().validation);
    }
    const fs::path store = inputs().folder.path() / "store" / form.folder;
    for (const char* to : {"lmdb", "webdataset", "arrow", "parquet", "hdf5", "tfrecord"}) {
      SCOPED_TRACE(to);
      expect_same(*open(to, listed, pack(listed, store, to).location), listed, inputs().source);
    }
  }
}

TEST_F(Containers, KeysThatAreNoFileNamesStayWithinTheirFile) {
  const Dataset dataset = scan_dataset(in("odd_keys"));
  ASSERT_EQ(dataset.images.size(), 2u);
  EXPECT_EQ(dataset.images[0].path.substr(0, 37), "a-000000.tar/000000_.._.._x y_\xC3\xA9.jpg");
  EXPECT_EQ(dataset.images[1].path, "a-000000.tar/000001__abs_b.jpg");
  EXPECT_EQ(scan_dataset(in("linked")).images.size(), 9u);
  EXPECT_EQ(scan_dataset(in("dotted")).images.size(), 2u);
}

TEST_F(Containers, ThatCannotBeUsedAreNamedWithTheNextStep) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"cut_tar", {"cut_tar/a-000000.tar: after ", "cut off", "restore the file"}},
      {"cut_end", {"a-000000.tar: after 9 images: it doesn't end with the two empty blocks"}},
      {"no_tar", {"a-000000.tar: after 0 images: libarchive: "}},
      {"empty", {"a-000000.tar: after 0 images: it is empty; restore"}},
      {"no_member", {"a-000000.tar: after 0 images: it holds no image; restore"}},
      {"no_label", {"sample a has .jpg, but no label: webdataset's is in a file a.cls"}},
      {"one_label_missing", {"after 1 images: sample b has .jpg, but no label"}},
      {"label_in_words", {"a.cls holds 'dog', not a class number"}},
      {"negative", {"its label is -1, not 0 to", "a part without labels"}},
      {"from_one", {"1 of 3 classes hold no image (0); if labels count from 1, add --labels-from 1"}},
      {"no_jpeg", {"a-000000.tar/000000_a.jpg (12 bytes) is neither JPEG nor PNG", "--skip-unreadable"}},
      {"two_images", {"sample a has two images: a.jpg and a.png"}},
      {"mixed",
       {"it holds 1 ", "tar files (e.g. a-000000.tar)", "Parquet files (e.g. a.parquet)", "move the others"}},
      {"validation_only",
       {"all its 1 tar files are of a validation or test part", "expected files of train"}},
      {"compressed",
       {"a.parquet: after 1 images: its images are compressed or encoded", "converted.py parquet"}},
      {"label_beyond", {"a.parquet: after 0 images: its label is 7, not 0 to 1"}},
      {"no_image", {"its columns are text: string, label: int64; name the one of images"}},
      {"only_paths", {"row 0 has no image bytes or no label (null); put", "embed_table_storage"}},
      {"cut_arrow", {"a.arrow: after ", "restore the file"}},
      {"lmdb",
       {"it holds LMDB files; ", "pickled", "pip install lmdb",
        "converted.py lmdb " + in("lmdb").string() + " OUT"}},
      {"lmdb/data.mdb",
       {"it is a single LMDB file; ", "converted.py lmdb " + in("lmdb/data.mdb").string() + " OUT"}},
      {"mds",
       {"it holds MDS files; ", "pip install mosaicml-streaming",
        "converted.py mds " + in("mds").string() + " OUT"}},
      {"zip", {"it holds zip files; unpack it, `unzip "}},
      {"zip/set.zip",
       {"it is a single zip file; unpack it, `unzip " + in("zip/set.zip").string() + " -d OUT`"}},
      {"gzip", {"it holds compressed tar files; decompress all with `gunzip`"}},
      {"webdataset/set-val-000000.tar",
       {"it is a single tar file; use --data " + in("webdataset").string() + " to read it in place"}},
      {"classes",
       {"it holds 1 class folder, to be in a folder train; `mkdir OUT && ln -s " + in("classes").string()}},
      {"no_classes",
       {in("no_classes/train").string() + " holds images directly; expected one folder for each class: " +
        in("no_classes").string() + "/train/CLASS/IMAGE.jpg"}},
      {"flat", {"images without class folders", "while read image class"}},
      {"../src/train", {"it is itself the folder train; use --data " + inputs().source.root.string()}},
      {"flat/a.jpg", {"it is a file; expected the folder that holds train"}}};
  for (const auto& [name, parts] : cases) {
    const std::string said = problem(name);
    for (const std::string& part : parts) EXPECT_SAYS(said, part) << ": " << name;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
  EXPECT_EQ(scan_dataset(in("from_one"), {.labels_from = 1}).images[1].label, 1);
  EXPECT_EQ(scan_dataset(in("from_one"), {Unreadable::left_out}).images[1].label, 2);
  const Dataset without = scan_dataset(in("no_jpeg"), {Unreadable::left_out});
  EXPECT_EQ(without.images.size(), 1u);
  EXPECT_EQ(without.left_out.at("unknown"), 1);
}

TEST_F(Containers, TfRecordsAreReadOnceTheirFirstClassIsTold) {
#ifndef HAVE_TFRECORD
  GTEST_SKIP() << "no TFRecords in this build";
#endif
  Dataset shifted = inputs().source;
  for (ImageEntry& image : shifted.images) ++image.label;  // as in ImageNet's
  const fs::path place = pack(shifted, inputs().folder.path() / "store/tf", "tfrecord").location;
  const auto message = [&](const ScanOptions& options) {
    return failure_of([&] { scan_dataset(place, options); });
  };
  EXPECT_SAYS(message({}), "add --labels-from 1, as ImageNet's have it, or --labels-from 0");
  EXPECT_SAYS(message({.labels_from = 0}), "1 of 3 classes hold no image (0)");
  const Dataset dataset = scan_dataset(place, {.labels_from = 1});
  expect_same(*open("files", dataset, ""), dataset, inputs().source);
  Bytes cut = read_bytes(place / "train-00001-of-00004");
  cut.resize(cut.size() / 2);
  write_bytes(place / "train-00001-of-00004", cut);
  EXPECT_SAYS(message({.labels_from = 1}), "train-00001-of-00004: after ");
}

// With any damaged byte the images are listed or refused.
TEST_F(Containers, DamagedBytesNeverCrash) {
  for (const char* file : {"webdataset/set-train-000001.tar", "parquet/data/train-00000-of-00001.parquet",
                           "arrow/train/data-00000-of-00001.arrow"}) {
    const Bytes whole = read_bytes(in(file));
    const fs::path damaged = inputs().folder.path() / "damaged" / fs::path(file).filename();
    fs::create_directories(damaged.parent_path());
    int refused = 0;
    for (size_t at = 0; at < whole.size(); at += at < 700 || at + 1500 > whole.size() ? 3 : 397) {
      Bytes bytes = whole;
      bytes[at] ^= at % 2 == 0 ? 0xFF : 0x81;
      write_bytes(damaged, bytes);
      refused += !failure_of([&] { scan_dataset(damaged.parent_path()); }).empty();
    }
    EXPECT_GT(refused, 50) << file;
    fs::remove(damaged);
  }
}

}  // namespace bench::containers_test
