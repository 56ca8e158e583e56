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
    constexpr auto required = Presence::required;
    return known_keys(Key{"version", &IndexHeader::version, "of the format", required},
                      Key{"root", &IndexHeader::root, "folder of the images", required},
                      Key{"fingerprint", &IndexHeader::fingerprint,
                          "of names, sizes and a sample of the content", required},
                      Key{"images", &IndexHeader::images, "lines that follow", required},
                      Key{"bytes", &IndexHeader::bytes, "of the encoded files"},
                      Key{"kind", &IndexHeader::kind, "as data.kind of a record", required},
                      Key{"seed", &IndexHeader::seed, "of a stand-in", required},
                      Key{"skipped", &IndexHeader::skipped, "files named like images that are none"},
                      Key{"classes", &IndexHeader::classes, "class folders in sorted order", required},
                      Key{"left_out", &IndexHeader::left_out,
                          "files by ending in formats that aren't decoded", Presence::when_set});
  }
};

// Parses that line; throws Violation.
IndexHeader index_header(const std::string& line);

// `make_dataset index` prints this and the keys of RecordData.
struct IndexAnswer {
  std::string index, validation;
  static constexpr auto keys() {
    return known_keys(Key{"index", &IndexAnswer::index, "file that was written", Presence::required},
                      Key{"validation", &IndexAnswer::validation, "the same of val/, with --validation",
                          Presence::when_set});
  }
};

// `make_dataset pack`
struct PackAnswer {
  std::string location, note;
  std::optional<double> made_in_s = {};
  static constexpr auto keys() {
    return known_keys(
        Key{"location", &PackAnswer::location, "of the copy; empty: there is none"},
        Key{"note", &PackAnswer::note, "what was done, or why there is none"},
        Key{"made_in_s", &PackAnswer::made_in_s, "time that making it took", Presence::when_set});
  }
};

}  // namespace harness
