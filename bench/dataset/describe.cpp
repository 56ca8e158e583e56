// Summarises file sizes and image headers in a few lines of text.
#include "bench/dataset/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "harness/base/interrupt.h"

namespace bench {
namespace {

struct Totals {
  int64_t headers = 0, unreadable = 0, png = 0, grey = 0, four = 0, full = 0, half = 0, q96 = 0,
          progressive = 0, restart = 0, exif = 0, above_512 = 0;
  double width = 0, height = 0, pixels = 0, bytes = 0, pixels_above_512 = 0;
};

void add(Totals& t, const ImageHeader& header, int64_t bytes) {
  ++t.headers;
  if (header.format == ImageHeader::Format::unreadable) {
    ++t.unreadable;
    return;
  }
  const double pixels = static_cast<double>(header.width) * header.height;
  t.width += header.width;
  t.height += header.height;
  t.pixels += pixels;
  t.bytes += static_cast<double>(bytes);
  if (std::max(header.width, header.height) > 512) t.pixels_above_512 += pixels;
  t.png += header.format == ImageHeader::Format::png;
  t.grey += header.components == 1;
  t.four += header.components == 4;
  t.full += header.full_chroma && header.components == 3;
  t.half += header.half_chroma;
  t.q96 += header.quality == 96;
  t.progressive += header.progressive;
  t.restart += header.restart_markers;
  t.exif += header.exif;
}

}  // namespace

std::string describe(const Dataset& dataset, int64_t most_headers) {
  std::vector<int64_t> bytes;
  for (const auto& image : dataset.images) bytes.push_back(image.bytes);
  std::sort(bytes.begin(), bytes.end());
  const auto count = static_cast<int64_t>(bytes.size());
  auto percentile = [&](int p) { return bytes[(count - 1) * p / 100]; };

  Totals t;
  const int64_t read = std::min(count, most_headers);
  for (int64_t i = 0; i < read; ++i) {
    base::stop_if_interrupted();
    const auto& image = dataset.images[i * count / read];
    add(t, image.bytes > kMostImageBytes ? ImageHeader{} : read_image_header(dataset.root / image.path),
        image.bytes);
  }
  const double readable = static_cast<double>(std::max<int64_t>(1, t.headers - t.unreadable));
  const double pixels = std::max(1.0, t.pixels);
  auto share = [&](int64_t n) { return fmt::format("{:.1f} % ({})", 100.0 * n / readable, n); };
  std::string text;
  auto line = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{:<16}{}\n", name, value);
  };
  line("images", fmt::format("{} in {} classes, {:.1f} MB ({})", count, dataset.classes.size(),
                             dataset.total_bytes() / 1e6, dataset.kind));
  line("bytes", fmt::format("mean {:.0f}, p5 {}, p50 {}, p95 {}, max {}",
                            static_cast<double>(dataset.total_bytes()) / count, percentile(5), percentile(50),
                            percentile(95), bytes.back()));
  if (read < count) line("headers read", fmt::format("{} of {}, evenly spaced", read, count));
  line("size", fmt::format("mean {:.0f}x{:.0f}, {:.0f} pixels, {:.0f} % of all pixels in images above 512",
                           t.width / readable, t.height / readable, t.pixels / readable,
                           100 * t.pixels_above_512 / pixels));
  line("bits per pixel", fmt::format("{:.2f}", t.bytes * 8 / pixels));
  line("quality 96", share(t.q96));
  line("4:4:4", share(t.full));
  line("4:2:0", share(t.half));
  line("greyscale", share(t.grey));
  line("CMYK", share(t.four));
  line("PNG", share(t.png));
  line("progressive", share(t.progressive));
  line("restart markers", share(t.restart));
  line("EXIF", share(t.exif));
  line("unreadable", fmt::format("{}", t.unreadable));
  if (dataset.skipped > 0)
    line("skipped",
         fmt::format("{} files: not regular files, macOS metadata (._*) or with a line break in the path",
                     dataset.skipped));
  for (const auto& [kind, files] : dataset.left_out)
    line("left out", fmt::format("{} {}, which this suite doesn't decode", files, kind));
  return text;
}

}  // namespace bench
