// unit: a data set's images are those that torchvision's ImageFolder lists, in its order; differences are
// refused or noted. Expectations follow torchvision.datasets.folder: sorted(os.walk(followlinks=True)),
// endings in any case.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "bench/dataset/scan.h"
#include "tests/support/dataset_folder.h"
#include "tests/support/failure_of.h"

namespace bench::image_folder_test {

namespace fs = std::filesystem;

struct ImageFolder : testing::Test {
  DatasetFolder folder;
  fs::path train() const { return folder.path / "set/train"; }
  void add(const std::string& name) const { folder.write("set/train/" + name, "x"); }
  Dataset scan(Unreadable unreadable = Unreadable::refused) const {
    return scan_dataset(folder.path / "set", {unreadable});
  }
  std::string failure() const {
    return failure_of([&] { scan(); });
  }
  static std::vector<std::string> listed(const Dataset& dataset) {
    std::vector<std::string> all;
    for (const auto& image : dataset.images)
      all.push_back(image.path.substr(6) + " " + std::to_string(image.label));
    return all;
  }
};

TEST_F(ImageFolder, EndingsCountInAnyCase) {
  for (const char* name : {"a.JPEG", "b.Jpeg", "c.jpg", "d.JPG", "e.jPg", "f.png", "g.PNG", "h.Png", "i.jpeg",
                           ".j.jpg", "notes.txt", "k.jpg.part", "jpg", "l.jfif", "m.npy", "n.JPE"})
    add(std::string("n0/") + name);
  EXPECT_EQ(listed(scan()),
            (std::vector<std::string>{"n0/.j.jpg 0", "n0/a.JPEG 0", "n0/b.Jpeg 0", "n0/c.jpg 0", "n0/d.JPG 0",
                                      "n0/e.jPg 0", "n0/f.png 0", "n0/g.PNG 0", "n0/h.Png 0", "n0/i.jpeg 0",
                                      "n0/l.jfif 0", "n0/n.JPE 0"}));
}

// Folder by folder: the folder's whole path decides first, so that n0/b-c comes before n0/b/a.
TEST_F(ImageFolder, NestedFoldersAreWalkedInItsOrder) {
  for (const char* name :
       {"n0/z.jpg", "n0/b/2.jpg", "n0/b/a/1.jpg", "n0/b-c/3.jpg", "n0/B/4.jpg", "n0/a.jpg",
        "n0/deep/er/and/deeper/5.jpg", "n0/.hidden/6.jpg", "n1/x/7.jpg", "n1/folder.JPEG/8.jpg"})
    add(name);
  EXPECT_EQ(listed(scan()), (std::vector<std::string>{"n0/a.jpg 0", "n0/z.jpg 0", "n0/.hidden/6.jpg 0",
                                                      "n0/B/4.jpg 0", "n0/b/2.jpg 0", "n0/b-c/3.jpg 0",
                                                      "n0/b/a/1.jpg 0", "n0/deep/er/and/deeper/5.jpg 0",
                                                      "n1/folder.JPEG/8.jpg 1", "n1/x/7.jpg 1"}));
}

TEST_F(ImageFolder, LinksAreFollowedAndCyclesWalkedOnce) {
  add("n0/1.jpg");
  add("n0/sub/2.jpg");
  add("n1/3.jpg");
  folder.write("elsewhere/4.jpg", "x");
  fs::create_directory_symlink(folder.path / "elsewhere", train() / "n1/more");
  fs::create_directory_symlink(folder.path / "elsewhere", train() / "n2");
  fs::create_directory_symlink("..", train() / "n0/sub/up");
  fs::create_symlink("1.jpg", train() / "n0/same.jpg");
  fs::create_symlink("itself", train() / "n0/itself");
  const Dataset dataset = scan();
  EXPECT_EQ(listed(dataset), (std::vector<std::string>{"n0/1.jpg 0", "n0/same.jpg 0", "n0/sub/2.jpg 0",
                                                       "n1/3.jpg 1", "n1/more/4.jpg 1", "n2/4.jpg 2"}));
  ASSERT_EQ(dataset.notes.size(), 1u);
  EXPECT_SAYS(dataset.notes[0], "train/n0/sub/up links to a parent folder");
}

TEST_F(ImageFolder, FilesOfMacOsAreNoImages) {
  for (const char* name : {"n0/1.JPEG", "n0/._1.JPEG", "n0/._2.webp", "n0/._notes"}) add(name);
  const Dataset dataset = scan();
  EXPECT_EQ(listed(dataset), std::vector<std::string>{"n0/1.JPEG 0"});
  EXPECT_EQ(dataset.skipped, 2);
}

TEST_F(ImageFolder, FormatsThatAreNotDecodedAreRefusedByName) {
  for (const char* name :
       {"n0/1.JPEG", "n0/2.webp", "n0/sub/3.WEBP", "n0/4.Bmp", "n1/5.tif", "n1/6.TIFF", "n1/7.pgm",
        "n1/8.ppm", "n1/9.png", "n1/a.avif", "n1/b.gif", "n1/c.HEIC", "n1/d.jxl", "n1/e.heif", "n1/f.jp2"})
    add(name);
  const std::string message = failure();
  EXPECT_SAYS(message, "holds 13 images in formats that this suite doesn't decode");
  EXPECT_SAYS(message,
              "1 .avif, 1 .bmp, 1 .gif, 1 .heic, 1 .heif, 1 .jp2, 1 .jxl, 1 .pgm, 1 .ppm, 1 .tif, 1 .tiff, "
              "2 .webp (e.g. train/n0/2.webp)");
  EXPECT_SAYS(message, "--skip-unreadable");
  EXPECT_EQ(message.find('\n'), std::string::npos);
  const Dataset dataset = scan(Unreadable::left_out);
  EXPECT_EQ(listed(dataset), (std::vector<std::string>{"n0/1.JPEG 0", "n1/9.png 1"}));
  EXPECT_EQ(dataset.left_out.at(".webp"), 2);
  ASSERT_EQ(dataset.notes.size(), 1u);
  EXPECT_SAYS(dataset.notes[0], "left out 13 images");
  write_index(dataset, folder.path / "index.tsv");
  EXPECT_EQ(read_index(folder.path / "index.tsv").left_out, dataset.left_out);
}

TEST_F(ImageFolder, ValidationImagesFollowTheSameRules) {
  add("n0/1.JPEG");
  folder.write("set/val/n0/sub/2.JPG", "x");
  const Dataset images = scan_validation(scan());
  ASSERT_EQ(images.images.size(), 1u);
  EXPECT_EQ(images.images[0].path, "val/n0/sub/2.JPG");
  folder.write("set/val/n0/3.bmp", "x");
  EXPECT_SAYS(failure_of([&] { scan_validation(scan()); }), "1 .bmp (e.g. val/n0/3.bmp)");
  EXPECT_EQ(scan_validation(scan(), {Unreadable::left_out}).images.size(), 1u);
}

TEST_F(ImageFolder, ClassesWithoutImagesAreRefusedAsThere) {
  add("n0/1.JPEG");
  add("n1/notes.txt");
  add("n2/2.webp");
  add("n3/3.JPEG");
  EXPECT_SAYS(failure(), "1 .webp");
  fs::remove(train() / "n2/2.webp");
  const std::string message = failure();
  EXPECT_SAYS(message, "2 of 4 class folders hold no image (n1 and 1 more)");
  EXPECT_SAYS(message, "--skip-unreadable");
  const Dataset dataset = scan(Unreadable::left_out);
  EXPECT_EQ(listed(dataset), (std::vector<std::string>{"n0/1.JPEG 0", "n3/3.JPEG 3"}));
  ASSERT_EQ(dataset.notes.size(), 1u);
  EXPECT_SAYS(dataset.notes[0], "keep their class numbers");
}

TEST_F(ImageFolder, HiddenFoldersAreNoClassesAndThatIsSaid) {
  add(".ipynb_checkpoints/1.JPEG");
  add("n0/1.JPEG");
  const Dataset dataset = scan();
  EXPECT_EQ(dataset.classes, std::vector<std::string>{"n0"});
  EXPECT_EQ(listed(dataset), std::vector<std::string>{"n0/1.JPEG 0"});
  ASSERT_EQ(dataset.notes.size(), 1u);
  EXPECT_SAYS(dataset.notes[0], ".ipynb_checkpoints");
  EXPECT_SAYS(dataset.notes[0], "higher");
}

// For ImageNet's layout fingerprints must not change, so that existing packed copies are still found.
TEST_F(ImageFolder, FingerprintsOfOrdinarySetsAreThoseOfBefore) {
  folder.write_small_set("set");
  EXPECT_EQ(scan().fingerprint, "765c9b220bb5029d");
  EXPECT_TRUE(scan().notes.empty());
}

}  // namespace bench::image_folder_test
