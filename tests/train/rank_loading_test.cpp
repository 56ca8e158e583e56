// train: what a rank says of a data set that can't be read when its row begins.
#include "bench/train/rank_loading.h"

#include <gtest/gtest.h>

#include "tests/support/failure_of.h"
#include "tests/support/temporary_folder.h"

namespace bench::rank_loading_test {

TEST(RankLoading, AFileThatWasRemovedAfterItsIndexWasMadeIsNamed) {
  const TemporaryFolder folder;
  Dataset dataset;
  dataset.root = folder.path();
  dataset.classes = {"a"};
  for (int64_t image = 0; image < 8; ++image)
    dataset.images.push_back({"train/a.zip/b.jpg", 0, 9, 9 * image, 11});
  harness::Job job;
  job.row = {.storage = "files", .cache = "cold", .batch = 4};
  std::string said;
  try {
    const RankLoading loading(job, dataset, {}, 4, nullptr);
  } catch (const BadDataset& error) {
    said = error.what();
  }
  EXPECT_SAYS(said,
              "train/a.zip: No such file or directory; restore these files, remove them from the data set");
}

}  // namespace bench::rank_loading_test
