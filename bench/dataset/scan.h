// Scans the folders of a data set for images.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "bench/dataset/containers.h"
#include "bench/formats/index.h"

namespace bench {

enum class Unreadable {
  refused,
  left_out,  // a class without other images keeps its class number
};

struct ScanOptions {
  Unreadable unreadable = Unreadable::refused;
  int64_t labels_from = -1;  // number of the first class in TFRecords, which don't tell; -1: not given
};

// Adds the images of these files as ranges of them, and sets the classes to those of `labels`. checked:
// refuses or leaves out what is neither JPEG nor PNG. Throws std::runtime_error that names the file.
void add_images(Dataset& dataset, const Containers& found, const std::vector<std::string>& files,
                Labels& labels, std::optional<Unreadable> checked);

// Lists root/train in the order of torchvision's ImageFolder, as docs/data.md says; images within larger
// files (containers.h) as ranges of these files, sorted by file and then as stored. Throws std::runtime_error
// (one line, with the next step) if the images are missing, refused or those of an unfinished stand-in.
Dataset scan_dataset(const std::filesystem::path& root, const ScanOptions& options = {});

// Lists root/val with the classes and labels of `train`; val may lack classes of train. Throws
// std::runtime_error as scan_dataset(), and if val has a class that train lacks or a class folder without
// images.
bool has_validation(const Dataset& train);
Dataset scan_validation(const Dataset& train, const ScanOptions& options = {});

// Identifies a data set: 16 hex digits, XXH3 over every path and size and the content of up to 64 evenly
// spaced files.
std::string fingerprint_of(const Dataset& dataset);

}  // namespace bench
