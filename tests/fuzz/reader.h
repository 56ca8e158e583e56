// The readers that reader_fuzz tries, and the files that each expects.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

using Bytes = std::vector<uint8_t>;

struct Place {
  std::filesystem::path folder;
  std::vector<std::filesystem::path> files;
  std::span<const uint8_t> bytes;  // the whole input
};

struct Reader {
  const char* name;
  std::vector<std::string> files;
  void (*read)(const Place& place);
  void (*repair)(std::vector<Bytes>& files) =
      nullptr;             // computes checksums anew, which no mutation hits by chance
  bool names_file = true;  // whether a refusal does, or its caller adds the name
};

std::vector<Reader> readers_of_images();  // packed copies, an object store's answers, other tools' files
std::vector<Reader> readers_of_files();   // that users write, and that run_matrix writes
