// A temporary folder for one test, optionally with a small set of files in ImageNet's layout.
#pragma once
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/temporary_folder.h"

struct DatasetFolder {
  const TemporaryFolder folder;
  const std::filesystem::path& path = folder.path();
  void write(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories((path / name).parent_path());
    std::ofstream(path / name, std::ios::binary) << content;
  }
  std::string read(const std::string& name) const {
    std::ifstream stream(path / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  // Three classes of unequal size. The contents are not images, which indexing and packing must accept.
  void write_small_set(const std::string& root) const {
    for (int c = 0; c < 3; ++c)
      for (int n = 0; n <= c; ++n)
        write(root + "/train/n0" + std::to_string(c) + "/n_" + std::to_string(n) + ".JPEG",
              std::string(static_cast<size_t>(3000 * c + n + 1), static_cast<char>('a' + c + n)));
  }
};
