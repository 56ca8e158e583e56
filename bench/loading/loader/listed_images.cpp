// Reads the header of each image once.
#include "bench/loading/loader/listed_images.h"

namespace bench {

std::vector<ListedImage> list_images(Storage& storage, const LoaderOptions& options) {
  const Sampler sampler(options.sampler);
  const auto reader = storage.reader();
  Decoder decoder;
  struct Header {
    bool usual = false;
    ImageSize size;
    int64_t label = 0, bytes = 0;
  };
  std::vector<std::optional<Header>> headers(static_cast<size_t>(options.sampler.records));
  const auto header_of = [&](int64_t record) -> const Header& {
    auto& header = headers[static_cast<size_t>(record)];
    if (header) return *header;
    header.emplace();
    try {
      const EncodedImage image = reader->read(record);
      header->size = decoder.size(image);
      header->usual =
          decoder.size_if_usual(image, {0, 0, header->size.width, header->size.height}).has_value();
      header->label = image.label;
      header->bytes = static_cast<int64_t>(image.bytes.size());
    } catch (const std::runtime_error&) {  // as unusual
    }
    return *header;
  };
  std::vector<ListedImage> list;
  const int64_t wanted =
      options.external->images + (options.ring_depth + 4 * options.threads + 4) * options.batch_size;
  for (int64_t place = 0; place < wanted; ++place) {
    Sample sample = sampler.at(options.first_batch * options.batch_size + place);
    int64_t tried = 0;
    while (!header_of(sample.record).usual && tried++ < options.sampler.records)
      sample.record = (sample.record + 1) % options.sampler.records;
    const Header& header = header_of(sample.record);
    if (!header.usual)
      throw BadDataset(
          "no image of the data set is a JPEG file in RGB or grey, which external loaders are given");
    list.push_back({sample.record, header.label, header.bytes,
                    draw_augmentation(header.size, options.sampler.seed, sample.epoch, sample.record)});
  }
  return list;
}

}  // namespace bench
