// The crops of tests/golden/pixels: which file, which part of it, at which size.
#pragma once
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "bench/image/decode.h"

namespace bench {

struct PixelCase {
  std::string line;  // of cases.txt, for messages
  std::string file;
  Augmentation augmentation;
  int side = 0;
};

inline std::vector<PixelCase> pixel_cases(const std::filesystem::path& folder) {
  std::ifstream stream(folder / "cases.txt");
  std::vector<PixelCase> cases;
  std::string line;
  std::getline(stream, line);  // names of the columns
  while (std::getline(stream, line)) {
    PixelCase& one = cases.emplace_back();
    one.line = line;
    CropBox& box = one.augmentation.box;
    std::istringstream(line) >> one.file >> box.left >> box.top >> box.width >> box.height >>
        one.augmentation.flip >> one.side;
  }
  return cases;
}

}  // namespace bench
