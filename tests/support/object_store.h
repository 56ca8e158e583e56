// What the tests of remote storages share: a data set behind a real nginx.
#pragma once
#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "harness/emulate/object_store.h"
#include "harness/emulate/remote_storage.h"
#include "tests/support/outcome.h"
#include "tests/support/stored_images.h"

namespace bench {

namespace fs = std::filesystem;

// Processes whose command line names this folder.
inline std::string processes_naming(const fs::path& folder) {
  std::string found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error))
    if (const std::string line = content_of(entry.path() / "cmdline");
        line.find(folder.string()) != line.npos)
      found += entry.path().string() + ' ' + line + '\n';
  return found;
}

// The processes that still run after a while.
inline std::string left_behind(const fs::path& folder) {
  for (int i = 0; i < 50 && !processes_naming(folder).empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  return processes_naming(folder);
}

inline std::string end_of(harness::Service& service) {
  for (int i = 0; i < 100 && service.why_ended().empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return service.why_ended();
}

inline bool mounted_here(const fs::path& folder) {
  return content_of("/proc/self/mounts").find(folder.string()) != std::string::npos;
}

class ObjectStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!harness::why_no_object_store().empty()) GTEST_SKIP() << harness::why_no_object_store();
    if (const std::string why = why_missing("remote"); !why.empty()) GTEST_SKIP() << why;
    dataset = small_dataset(folder.path() / "data", 40);
    serve();
  }
  void TearDown() override {
    server.reset();
    EXPECT_EQ(left_behind(folder.path()), "");
    EXPECT_FALSE(mounted_here(folder.path()));
  }
  void serve() { server.emplace(dataset.root, folder.path() / "server", folder.path() / "log", nullptr); }
  std::unique_ptr<Storage> open(const std::string& name, const fs::path& location,
                                const std::vector<int64_t>& records = {}) {
    return open_storage(name, {dataset, location, true, records});
  }
  void expect_record(StorageReader& reader, int64_t record) {
    bench::expect_record(reader.read(record), dataset, record);
  }
  void expect_all(Storage& storage) {
    const auto reader = storage.reader();
    for (int64_t record = 0; record < storage.size(); ++record) expect_record(*reader, record);
  }
  void add_image(const std::string& path, const Bytes& bytes) {
    write_bytes(dataset.root / path, bytes);
    dataset.images.push_back({path, 1, int64_t(bytes.size())});
  }

  TemporaryFolder folder;
  Dataset dataset;
  std::optional<harness::ObjectStore> server;
};

}  // namespace bench
