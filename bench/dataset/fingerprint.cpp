// Identifies a data set by a hash of all paths, sizes and labels and a sample of contents: fast enough for
// every run.

#include <fmt/format.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

#include "bench/dataset/pack.h"
#include "bench/dataset/scan.h"
#include "harness/base/file.h"

namespace bench {

std::string fingerprint_of(const Dataset& dataset) {
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                              XXH3_freeState);
  XXH3_64bits_reset(state.get());
  int64_t last = -1;
  for (const auto& image : dataset.images) {
    XXH3_64bits_update(state.get(), image.path.c_str(), image.path.size() + 1);
    XXH3_64bits_update(state.get(), &image.bytes, sizeof image.bytes);
    // Packed copies keep labels. Those that count class folders from 0 follow from the paths.
    if (image.offset >= 0 || (image.label != last && image.label != last + 1))
      XXH3_64bits_update(state.get(), &image.label, sizeof image.label);
    last = image.label;
  }
  const auto count = static_cast<int64_t>(dataset.images.size());
  const int64_t sampled = std::min<int64_t>(count, 64);
  std::vector<char> content;
  for (int64_t i = 0; i < sampled; ++i) {
    const auto& image = dataset.images[i * count / sampled];
    const auto file = dataset.root / image.file();
    content.resize(static_cast<size_t>(std::min(image.bytes, kMostImageBytes)));
    const base::RegularFile opened = base::RegularFile::open(file.c_str());
    if (opened.error != 0 && ::access(file.c_str(), R_OK) == 0)  // too many open files, a fault of the disk
      throw std::runtime_error(fmt::format("{}: can't be read: {}", file.string(), opened.why));
    if (!opened.is_open()) continue;  // no permission, say: the loader counts it as a bad image
    if (image.offset >= 0) ::lseek(opened.descriptor.number(), image.offset, SEEK_SET);
    read_fully(opened.descriptor.number(), content.data(), static_cast<int64_t>(content.size()), file);
    XXH3_64bits_update(state.get(), content.data(), content.size());
  }
  return fmt::format("{:016x}", XXH3_64bits_digest(state.get()));
}

}  // namespace bench
