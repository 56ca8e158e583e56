// JSON of make_dataset about a data set: the first line of its index, and what it prints for run_matrix.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "harness/contract/codec.h"

namespace harness {

struct IndexHeader {
  static constexpr int64_t kVersion = 1;
  int64_t version = kVersion;
  std::string root, fingerprint, kind;
  int64_t images = 0, bytes = 0, seed = 0, skipped = 0;
  std::vector<std::string> classes;
  std::map<std::string, int64_t> left_out;

  static constexpr auto keys() {
    return known_keys(
        Required{"version", &IndexHeader::version, "of the format"},
        Required{"root", &IndexHeader::root, "folder of the images"},
        Required{"fingerprint", &IndexHeader::fingerprint, "of names, sizes and a sample of the content"},
        Required{"images", &IndexHeader::images, "lines that follow"},
        Key{"bytes", &IndexHeader::bytes, "of the encoded files"},
        Required{"kind", &IndexHeader::kind, "as data.kind of a record"},
        Required{"seed", &IndexHeader::seed, "of a stand-in"},
        Key{"skipped", &IndexHeader::skipped, "files named like images that are none"},
        Required{"classes", &IndexHeader::classes, "class folders in sorted order"},
        WhenSet{"left_out", &IndexHeader::left_out, "files by ending in formats that aren't decoded"});
  }
};

// Parses that line; throws Violation.
IndexHeader index_header(const std::string& line);

// `make_dataset index` prints this and the keys of RecordData.
struct IndexAnswer {
  std::string index, validation;
  static constexpr auto keys() {
    return known_keys(Required{"index", &IndexAnswer::index, "file that was written"},
                      WhenSet{"validation", &IndexAnswer::validation, "the same of val/, with --validation"});
  }
};

// `make_dataset pack`
struct PackAnswer {
  std::string location, note;
  std::optional<double> made_in_s = {};
  static constexpr auto keys() {
    return known_keys(Key{"location", &PackAnswer::location, "of the copy; empty: there is none"},
                      Key{"note", &PackAnswer::note, "what was done, or why there is none"},
                      WhenSet{"made_in_s", &PackAnswer::made_in_s, "time that making it took"});
  }
};

}  // namespace harness
