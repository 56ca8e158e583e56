// Recognises copies that make_dataset packed, and suggests the next step for unusable ones.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "harness/contract/codec.h"

namespace bench {

// In a copy's folder: the index of images in its larger files.
inline constexpr const char* kCopyIndex = ".index.tsv";

// Whether the name of a store's subfolder is a fingerprint: 16 lower-case hexadecimal digits.
bool is_fingerprint(const std::string& name);

// The content of NAME.pack.json, which describes the copy in the folder NAME beside it. (Within the folder it
// would stop polars, which reads a folder only if all its files have the same ending.)
struct PackRecord {
  int64_t version = 0;
  std::string fingerprint;
  int64_t images = 0, bytes = 0;
  std::optional<double> made_in_s = {};
  bool operator==(const PackRecord&) const = default;
  KEYS(PackRecord, REQUIRED(version, "of the copy's format"), REQUIRED(fingerprint, "of the data set"),
       REQUIRED(images, "in the copy"), KEY(bytes, "of them together"),
       WHEN_SET(made_in_s, "time that making it took"));
};
// With one of these endings: of a copy's record, and of its lock, both beside the copy's folder.
inline constexpr std::string_view kPackRecord = ".pack.json", kPackLock = ".lock";
// std::nullopt if there is no such record of the folder.
std::optional<PackRecord> read_pack_record(const std::filesystem::path& folder);

// Whether make_dataset packed this folder: STORE/<fingerprint>/<name> with a record that names the same
// fingerprint. A symbolic link to such a folder doesn't count.
bool is_packed_copy(const std::filesystem::path& folder);

// The next step, as text for error messages, for a copy at `location` that is missing, damaged or incomplete:
// remove it and pack again if make_dataset packed it, otherwise restore it. kind: a value of `make_dataset
// pack --to`.
std::string pack_again(const std::string& kind, const std::filesystem::path& location);

}  // namespace bench
