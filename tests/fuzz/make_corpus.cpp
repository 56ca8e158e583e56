// Seeds for decode_fuzz: small images of every kind, and damaged ones, each behind the bytes that choose a
// crop. Usage: make_corpus FOLDER [IMAGE...]; other images given by name become seeds too.
#include <array>
#include <iostream>
#include <random>

#include "tests/fuzz/decode_case.h"
#include "tests/support/damaged_images.h"

namespace {

using namespace bench;

class Corpus {
 public:
  explicit Corpus(std::filesystem::path folder) : folder_(std::move(folder)) {}
  void add(const Bytes& image, bool huge = false) {
    Bytes seed(kCropBytes);
    for (uint8_t& byte : seed) byte = static_cast<uint8_t>(random_() >> 24);
    seed[0] = static_cast<uint8_t>(number_ & (kFlip | kFloats | kWithoutSize));
    if (number_ % 16 == 15) seed[0] |= kOutside;
    if (huge) seed[1] = kHuge;
    if (image.size() > 3 && image[1] == 'P') seed[0] |= kRepairChecksums;
    seed.insert(seed.end(), image.begin(), image.end());
    write_bytes(folder_ / std::to_string(number_++), seed);
  }
  int size() const { return number_; }

 private:
  std::filesystem::path folder_;
  std::mt19937 random_{1};
  int number_ = 0;
};

void add_whole_images(Corpus& corpus) {
  for (const JpegKind& kind : {JpegKind{}, JpegKind{.grey = true}, JpegKind{.ycck = true},
                               JpegKind{.progressive = true}, JpegKind{.restart_rows = 1}})
    corpus.add(small_jpeg(48, 40, 5, kind));
  corpus.add(small_jpeg(50, 37, 6, {.chroma = 2}));
  corpus.add(small_jpeg(50, 37, 7, {.chroma = 2, .progressive = true}));
  for (const auto& [across, down] : {std::array{2, 1}, {1, 2}, {4, 1}, {4, 2}, {3, 1}})
    corpus.add(small_jpeg(61, 35, 1, {.chroma = across, .chroma_rows = down}));
  corpus.add(small_jpeg(1, 1, 1));
  corpus.add(small_jpeg(500, 3, 2, {.chroma = 2, .quality = 30}));
  corpus.add(small_jpeg(3, 300, 3, {.chroma = 2}));
  for (const int colour :
       {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_PALETTE, PNG_COLOR_TYPE_RGB_ALPHA})
    for (const bool interlaced : {false, true})
      corpus.add(png_of(19, 23, {.colour = colour, .interlaced = interlaced}));
  corpus.add(png_of(33, 9, {.bits = 1, .colour = PNG_COLOR_TYPE_GRAY, .interlaced = true}));
  corpus.add(png_of(12, 14, {.bits = 16, .colour = PNG_COLOR_TYPE_GRAY_ALPHA}));
}

void add_damaged_images(Corpus& corpus) {
  for (const JpegKind& kind : {JpegKind{.restart_rows = 1}, JpegKind{.chroma = 2, .progressive = true}})
    for (const Bytes& cut : cut_at_every_marker(small_jpeg(40, 24, 4, kind))) corpus.add(cut);
  for (const auto& [width, height] : {std::array{65500, 65500}, {65500, 1}, {9000, 9000}, {1, 65500}}) {
    corpus.add(with_claimed_size(small_jpeg(16, 16, 5), width, height), true);
    corpus.add(with_claimed_size(small_jpeg(16, 16, 5, {.progressive = true}), width, height), true);
  }
  corpus.add(with_many_scans(small_jpeg(24, 24, 6, {.progressive = true}), 150));
  corpus.add(png_of(1500, 1500, {.bits = 1, .colour = PNG_COLOR_TYPE_GRAY, .flat = true}), true);
  Bytes claims = png_of(8, 8);
  put_big_endian(claims, 16, 30000, 4);
  put_big_endian(claims, 20, 30000, 4);
  corpus.add(claims, true);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::cerr << "usage: make_corpus FOLDER [IMAGE...]\n";
    return 2;
  }
  Corpus corpus(arguments[1]);
  add_whole_images(corpus);
  add_damaged_images(corpus);
  for (int i = 2; i < count; ++i) corpus.add(read_bytes(arguments[i]));
  std::cout << corpus.size() << " seeds in " << arguments[1] << "\n";
}
