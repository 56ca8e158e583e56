// unit: a named pipe, a folder or deeply nested JSON in place of a file of a data set or of a packed copy is
// named in an error, is never waited for and never crashes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <future>

#include "bench/dataset/scan.h"
#include "bench/dataset/standin_record.h"
#include "tests/support/failure_of.h"
#include "tests/support/stored_images.h"

namespace bench::not_a_file_test {

namespace fs = std::filesystem;

// The action's error message, or a note that it waits for a writer of the pipe (the wait is always ended).
std::string failure_beside_pipe(const fs::path& pipe, const std::function<void()>& action) {
  auto failure = std::async(std::launch::async, [&] { return failure_of(action); });
  if (failure.wait_for(std::chrono::seconds(10)) == std::future_status::ready) return failure.get();
  for (int i = 0; i < 100 && failure.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready;
       ++i)
    ::close(::open(pipe.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  return "it waits for the pipe";
}

class NotAFile : public testing::Test {
 protected:
  void SetUp() override {
    dataset_ = small_dataset(folder_.path() / "data", 12);
    dataset_ = scan_dataset(folder_.path() / "data");
  }

  PackResult packed(const std::string& kind) const {
    return pack(dataset_, folder_.path() / "store" / dataset_.fingerprint, kind);
  }

  // A pipe and then a folder in the file's place; each must be named.
  void expect_named(const fs::path& file, const std::function<void()>& action,
                    const char* as_pipe = "named pipe", const char* as_folder = "folder") const {
    SCOPED_TRACE(file);
    fs::remove_all(file);
    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
    const std::string pipe = failure_beside_pipe(file, action);
    EXPECT_SAYS(pipe, as_pipe);
    EXPECT_SAYS(pipe, file.filename().string());
    fs::remove(file);
    fs::create_directory(file);
    const std::string folder = failure_of(action);
    EXPECT_SAYS(folder, as_folder);
    EXPECT_SAYS(folder, file.filename().string());
    fs::remove(file);
  }

  static void write_nested(const fs::path& file) {
    constexpr size_t kDepth = 300'000;
    write_bytes(file, Bytes(kDepth, '['));
    Bytes both = read_bytes(file);
    both.resize(2 * kDepth, ']');
    write_bytes(file, both);
  }

  TemporaryFolder folder_;
  Dataset dataset_;
};

TEST_F(NotAFile, RecordOfAStandIn) {
  const fs::path file = dataset_.root / "standin.json";
  expect_named(file, [&] { scan_dataset(dataset_.root); });
  write_nested(file);
  const std::string message = failure_of([&] { scan_dataset(dataset_.root); });
  EXPECT_SAYS(message, "standin.json is not a valid record of a stand-in");
  EXPECT_EQ(message.find("remove"), std::string::npos) << "the folder may be the user's own: " << message;
}

TEST_F(NotAFile, IndexOfADataSet) {
  const fs::path file = folder_.path() / "index.tsv";
  expect_named(file, [&] { read_index(file); });
  write_nested(file);
  EXPECT_SAYS(failure_of([&] { read_index(file); }), "not the header of an index");
}

TEST_F(NotAFile, RecordOfACopy) {
  const fs::path file = packed("raw").location.string() + ".pack.json";
  expect_named(file, [&] { packed("raw"); });
  write_nested(file);
  EXPECT_EQ(packed("raw").note, "packed 12 images");
}

TEST_F(NotAFile, AnyFileOfACopy) {
  const std::vector<std::pair<std::string, std::string>> files = {
      {"lmdb", "data.mdb"},
      {"raw", "index.bin"},
      {"raw", "train-00001-of-00004.rgb"},
      {"tfrecord", "train-00001-of-00004"},
      {"tfrecord", "index-00001-of-00004.idx"},
      {"hdf5", "images.h5"},
      {"arrow", "images.arrow"},
      {"parquet", "train-00001-of-00004.parquet"}};
  for (const auto& [kind, name] : files) {
    if (!why_missing(kind).empty()) continue;
    const fs::path location = packed(kind).location;
    ASSERT_TRUE(fs::exists(location / name)) << location / name;
    expect_named(location / name, [&] { open_storage(kind, {dataset_, location, true, {}}); });
    fs::remove_all(location);
  }
}

TEST_F(NotAFile, ImageThatIsPacked) {
  expect_named(dataset_.root / dataset_.images[5].path, [&] { packed("raw"); });
}

}  // namespace bench::not_a_file_test
