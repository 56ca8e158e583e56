// Takes an even sample of the data set's JPEG files and keeps those that can be decoded.
#include "bench/micro/images.h"

#include <stdexcept>

#include "bench/dataset/scan.h"
#include "bench/image/png.h"
#include "bench/loading/storage/storage.h"

namespace bench {

static Jpegs load_jpegs(const std::filesystem::path& data, int64_t most, int side) {
  const Dataset dataset = scan_dataset(data);
  const auto storage = StorageRegistry::instance().find("files")({dataset, "", true, {}});
  const auto reader = storage->reader();
  Decoder decoder;
  Jpegs jpegs;
  for (const int64_t record : even_sample(dataset, most)) {
    const auto bytes = reader->read(record).bytes;
    if (is_png(bytes)) continue;
    try {
      std::vector<float> out(size_t(3 * side * side));
      const Augmentation drawn = draw_augmentation(decoder.size(bytes), 1, 0, record);
      decoder.crop_to_float(bytes, drawn, side, out.data());
      jpegs.augmentations.push_back(drawn);
      jpegs.images.emplace_back(bytes.begin(), bytes.end());
    } catch (const BadImage&) {  // unreadable images are left out
    }
  }
  if (jpegs.images.empty()) throw std::runtime_error("no readable JPEG in " + data.string());
  return jpegs;
}

KeptJpegs keep_jpegs(const std::filesystem::path& data, int64_t most, int side) {
  return [=, kept = std::make_shared<Jpegs>()]() -> const Jpegs& {
    if (kept->images.empty()) *kept = load_jpegs(data, most, side);
    return *kept;
  };
}

}  // namespace bench
