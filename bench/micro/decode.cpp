// decode/: one thread, encoded bytes in memory; header, whole image, crop, and the crop as float32.
#include "bench/image/decode.h"

#include <benchmark/benchmark.h>

#include "bench/image/jpeg.h"
#include "bench/image/resize.h"
#include "bench/micro/images.h"
#include "bench/micro/options.h"

namespace bench {
namespace {

constexpr int64_t kDecodedImages = 256;
constexpr int kDecodedPx = 224;

// work(i) decodes image i.
template <class Work>
void measure(benchmark::State& state, const Jpegs& loaded, const Work& work) {
  size_t next = 0;
  int64_t images = 0, bytes = 0;
  const base::Stopwatch watch;
  for (auto _ : state) {
    work(next);
    ++images;
    bytes += static_cast<int64_t>(loaded.images[next].size());
    next = (next + 1) % loaded.images.size();
  }
  count_images(state, images, static_cast<double>(bytes), watch.s());
}

// The pixels of each crop box as the decoder passes them to the resizer, row by row.
std::vector<std::vector<uint8_t>> decoded_boxes(const Jpegs& loaded) {
  std::vector<std::vector<uint8_t>> boxes;
  JpegReader reader;
  for (size_t i = 0; i < loaded.images.size(); ++i) {
    const CropBox& box = loaded.augmentations[i].box;
    reader.open(loaded.images[i]);
    reader.start(box);
    std::vector<uint8_t> pixels;
    for (int y = 0; y < box.height; ++y) {
      const uint8_t* row = reader.next_row();
      pixels.insert(pixels.end(), row, row + 4 * box.width);
    }
    pixels.resize(pixels.size() + Resizer::kRowPadding);
    reader.finish();
    boxes.push_back(std::move(pixels));
  }
  return boxes;
}

void resize(benchmark::State& state, const Jpegs& loaded, const std::string& output, bool plain) {
  const auto boxes = decoded_boxes(loaded);
  const BatchFormat format = batch_format(output);
  std::vector<uint8_t> out(size_t(bytes_per_image(format, kDecodedPx)));
  Resizer resizer(plain);
  measure(state, loaded, [&](size_t i) {
    const auto& [box, flip] = loaded.augmentations[i];
    resizer.begin(box.width, box.height, kDecodedPx, kDecodedPx, flip);
    for (int y = 0; y < box.height; ++y) resizer.add_row(boxes[i].data() + size_t{4} * box.width * y);
    if (format == BatchFormat::uint8)
      resizer.to_uint8(out.data());
    else if (format == BatchFormat::float32)
      resizer.to_float(reinterpret_cast<float*>(out.data()));
    else
      resizer.to_float_last(reinterpret_cast<float*>(out.data()));
  });
}

void add_decode(const MicroOptions& options) {
  if (options.data.empty()) return;
  const KeptJpegs loaded = keep_jpegs(options.data, kDecodedImages, kDecodedPx);
  add_benchmark("decode/header", [=](benchmark::State& state) {
    Decoder decoder;
    const Jpegs& all = loaded();
    measure(state, all, [&](size_t i) { benchmark::DoNotOptimize(decoder.size(all.images[i])); });
  });
  const auto rows = [=](bool crop) {
    return [=](benchmark::State& state) {
      JpegReader reader;
      const Jpegs& all = loaded();
      measure(state, all, [&](size_t i) {
        const ImageSize size = reader.open(all.images[i]);
        const CropBox box = crop ? all.augmentations[i].box : CropBox{0, 0, size.width, size.height};
        reader.start(box);
        for (int y = 0; y < box.height; ++y) benchmark::DoNotOptimize(reader.next_row());
        reader.finish();
      });
    };
  };
  add_benchmark("decode/whole", rows(false));
  add_benchmark("decode/crop", rows(true));
  for (const std::string output : {"uint8", "float32", "channels_last"})
    add_benchmark("decode/crop_resize/" + output, [=](benchmark::State& state) {
      Decoder decoder;
      const BatchFormat format = batch_format(output);
      std::vector<uint8_t> out(size_t(bytes_per_image(format, kDecodedPx)));
      const Jpegs& all = loaded();
      measure(state, all, [&](size_t i) {
        decoder.crop({all.images[i]}, all.augmentations[i], kDecodedPx, format, out.data());
      });
    });
  for (const std::string output : {"uint8", "float32", "channels_last"})
    for (const bool plain : {false, true})
      add_benchmark("resize/" + output + (plain ? "/plain" : ""),
                    [=](benchmark::State& state) { resize(state, loaded(), output, plain); });
}

[[maybe_unused]] const bool added_decode = add_family(add_decode);

}  // namespace
}  // namespace bench
