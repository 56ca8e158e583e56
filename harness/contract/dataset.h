// JSON of make_dataset about a data set: the first line of its index, and what it prints for run_matrix.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "harness/contract/codec.h"

namespace harness {

// What an index and its header both say.
struct DatasetFacts {
  std::string fingerprint;  // 16 hex digits over paths, sizes, labels and the content of a sample of files
  std::string kind = "folder";  // or "stand-in", or the storage that reads it in place
  int64_t seed = 0;             // of a stand-in, otherwise 0
  // Number of files with an image extension that are not regular files, are macOS metadata (._*) or have a
  // line break in the path.
  int64_t skipped = 0;
  std::vector<std::string> classes;  // class folders in sorted order
  // Number of images in formats that are not decoded here, by lower-case extension; empty unless they were to
  // be left out.
  std::map<std::string, int64_t> left_out;
};

struct IndexHeader : DatasetFacts {
  static constexpr int64_t kVersion = 1;
  int64_t version = kVersion;
  std::string root;
  int64_t images = 0, bytes = 0;

  KEYS(IndexHeader, REQUIRED(version, "of the format"), REQUIRED(root, "folder of the images"),
       REQUIRED(fingerprint, "of names, sizes and a sample of the content"),
       REQUIRED(images, "lines that follow"), KEY(bytes, "of the encoded files"),
       REQUIRED(kind, "as data.kind of a record"), REQUIRED(seed, "of a stand-in"),
       KEY(skipped, "files named like images that are none"),
       REQUIRED(classes, "class folders in sorted order"),
       WHEN_SET(left_out, "files by ending in formats that aren't decoded"));
};

// Parses that line; throws Violation.
IndexHeader index_header(const std::string& line);

// `make_dataset index` prints this and the keys of RecordData.
struct IndexAnswer {
  std::string index, validation;
  KEYS(IndexAnswer, REQUIRED(index, "file that was written"),
       WHEN_SET(validation, "the same of val/, with --validation"));
};

// `make_dataset pack`
struct PackAnswer {
  std::string location, note;
  std::optional<double> made_in_s = {};
  KEYS(PackAnswer, KEY(location, "of the copy; empty: there is none"),
       KEY(note, "what was done, or why there is none"), WHEN_SET(made_in_s, "time that making it took"));
};

}  // namespace harness
