// The images that another program's loader is told to make batches of.
#pragma once
#include <vector>

#include "bench/loading/loader/loader.h"

namespace bench {

struct ListedImage {
  int64_t record = 0, label = 0, bytes = 0;
  Augmentation augmentation;
};

// In the row's order: the images of the slice, and so many more that the adapter's loader is busy until its
// end. Records that are no usual JPEG files are replaced by the next one that is. Throws BadDataset if none
// is.
std::vector<ListedImage> list_images(Storage& storage, const LoaderOptions& options);

}  // namespace bench
