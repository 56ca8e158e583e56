// Finds the images of a data set's folders.
#pragma once
#include <filesystem>
#include <string>

#include "bench/formats/index.h"

namespace bench {

enum class Unreadable {
  refused,
  left_out,  // a class that has no other images keeps its number
};

// Walks root/train as torchvision's ImageFolder does: JPEG and PNG files (.jpeg, .jpg, .png in any case),
// below nested folders and links too, in its order. Unlike there, hidden folders are no classes (a note says
// so). Throws std::runtime_error (one line, with the next step) if the folder is missing, has no class
// folders, has images in ImageFolder's other formats, has a class without images, or is a stand-in that was
// not finished.
Dataset scan_dataset(const std::filesystem::path& root, Unreadable unreadable = Unreadable::refused);

// Walks root/val of a scanned set: the same classes and labels, other images. Throws std::runtime_error as
// above, and if val has a class that train lacks or a class folder without images. A class of train may be
// absent.
bool has_validation(const Dataset& train);
Dataset scan_validation(const Dataset& train, Unreadable unreadable = Unreadable::refused);

// The name of a data set's content: 16 hex digits over every path and size, and the content of up to 64
// evenly spaced files.
std::string fingerprint_of(const Dataset& dataset);

}  // namespace bench
