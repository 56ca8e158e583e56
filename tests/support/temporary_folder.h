// A new folder for one test, removed with its contents when the test ends.
#pragma once
#include <stdlib.h>
#include <sys/vfs.h>

#include <filesystem>
#include <stdexcept>
#include <string>

class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::filesystem::path& parent = std::filesystem::temp_directory_path()) {
    std::string name = (parent / "suite-test-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("can't make " + name);
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }
  operator const std::filesystem::path&() const { return path_; }
  std::filesystem::path operator/(const std::filesystem::path& below) const { return path_ / below; }

 private:
  std::filesystem::path path_;
};

// A folder whose files have no pages that could be dropped.
inline bool is_in_memory(const std::filesystem::path& folder) {
  struct statfs facts {};
  constexpr long kTmpfs = 0x01021994, kRamfs = 0x858458f6;
  return ::statfs(folder.c_str(), &facts) != 0 || facts.f_type == kTmpfs || facts.f_type == kRamfs;
}
