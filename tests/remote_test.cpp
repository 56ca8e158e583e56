// unit: images from a real nginx, alone and through a real rclone mount; what is said when something is
// missing or ends; nothing is left behind.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <thread>

#include "bench/loading/storage/cache_proof.h"
#include "bench/loading/storage/storage.h"
#include "harness/base/listener.h"
#include "harness/base/scratch.h"
#include "harness/emulate/mount.h"
#include "harness/emulate/object_store.h"
#include "harness/emulate/remote_storage.h"
#include "tests/failure_of.h"
#include "tests/small_images.h"

namespace bench::remote_test {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Processes whose command line names this folder.
std::string processes_naming(const fs::path& folder) {
  std::string found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error))
    if (const std::string line = text_of(entry.path() / "cmdline"); line.find(folder.string()) != line.npos)
      found += entry.path().string() + ' ' + line + '\n';
  return found;
}

// The processes that still run after a while.
std::string left_behind(const fs::path& folder) {
  for (int i = 0; i < 50 && !processes_naming(folder).empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  return processes_naming(folder);
}

std::string end_of(harness::Service& service) {
  for (int i = 0; i < 100 && service.why_ended().empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return service.why_ended();
}

bool mounted_here(const fs::path& folder) {
  return text_of("/proc/self/mounts").find(folder.string()) != std::string::npos;
}

class ObjectStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!harness::why_no_object_store().empty()) GTEST_SKIP() << harness::why_no_object_store();
    for (const Value& value : registered_values())
      if (value.axis == "storage" && value.name == "remote" && !value.missing.empty())
        GTEST_SKIP() << value.missing;
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
    return StorageRegistry::instance().find(name)({dataset, location, true, records});
  }
  void expect_record(StorageReader& reader, int64_t record) {
    const ImageEntry& entry = dataset.images[size_t(record)];
    const EncodedImage image = reader.read(record);
    EXPECT_EQ(image.label, entry.label);
    EXPECT_EQ(Bytes(image.bytes.begin(), image.bytes.end()), read_bytes(dataset.root / entry.path))
        << entry.path;
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

TEST_F(ObjectStoreTest, GivesEveryImage) {
  const auto storage = open("remote", server->url());
  expect_all(*storage);
  EXPECT_EQ(storage->used(), "remote");
  EXPECT_TRUE(storage->cached_files({1}).empty());
}

TEST_F(ObjectStoreTest, ServesSeveralThreads) {
  const auto storage = open("remote", server->url());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { expect_all(*storage); });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(ObjectStoreTest, NamesMayHoldAnyByte) {
  for (const char* name : {"a b", "50%", "a#b?c=d&e+f", "%41", "\xc3\xa4", "\xff\xfe", "quote\"'", "$root;"})
    add_image(std::string("train/n00000001/") + name + ".JPEG", small_jpeg(40, 40, 7));
  expect_all(*open("remote", server->url()));
}

TEST_F(ObjectStoreTest, ALargeImageAndAnEmptyOne) {
  add_image("train/n00000001/large.JPEG", Bytes(3 << 20, 7));
  add_image("train/n00000001/empty.JPEG", {});
  const auto storage = open("remote", server->url());
  expect_all(*storage);
  expect_all(*storage);
}

TEST_F(ObjectStoreTest, AMissingImageIsNamedAndTheNextOneComes) {
  fs::remove(dataset.root / dataset.images[3].path);
  const auto storage = open("remote", server->url());
  const auto reader = storage->reader();
  const std::string why = failure_of([&] { reader->read(3); });
  EXPECT_NE(why.find(dataset.images[3].path), std::string::npos) << why;
  EXPECT_NE(why.find("HTTP status 404"), std::string::npos) << why;
  expect_record(*reader, 4);
}

TEST_F(ObjectStoreTest, AnImageThatChangedItsLengthIsRefused) {
  const auto storage = open("remote", server->url());
  const auto reader = storage->reader();
  for (const int64_t more : {-1, 1, 1 << 20}) {
    fs::resize_file(dataset.root / dataset.images[3].path, uintmax_t(dataset.images[3].bytes + more));
    const std::string why = failure_of([&] { reader->read(3); });
    EXPECT_NE(why.find(fmt::format("the index says {}", dataset.images[3].bytes)), std::string::npos) << why;
    expect_record(*reader, 4);
  }
  dataset.images[3].bytes = int64_t{1} << 40;
  const auto other = open("remote", server->url());
  EXPECT_NE(failure_of([&] { other->reader()->read(3); }).find("at most"), std::string::npos);
}

TEST_F(ObjectStoreTest, WhatIsOutOfReachIsNamed) {
  int port = 0;
  { port = base::Listener(0, false).port(); }
  const std::string url = fmt::format("http://127.0.0.1:{}/", port);
  const std::string why = failure_of([&] { open("remote", url); });
  EXPECT_NE(why.find(url), std::string::npos) << why;
  EXPECT_NE(why.find("running"), std::string::npos) << why;
  EXPECT_NE(failure_of([&] { open("remote", ""); }).find("URL"), std::string::npos);
  EXPECT_NE(failure_of([&] { open("remote", server->url() + "nothing/"); }).find("404"), std::string::npos);
}

TEST_F(ObjectStoreTest, AServerThatEndsIsMissed) {
  const auto storage = open("remote", server->url());
  const auto reader = storage->reader();
  expect_record(*reader, 0);
  EXPECT_EQ(server->service().why_ended(), "");
  ::kill(server->service().pid(), SIGKILL);
  const std::string why = failure_of([&] {
    for (int64_t record = 1; record < 10; ++record) reader->read(record);
  });
  EXPECT_NE(why.find(server->url()), std::string::npos) << why;
  EXPECT_NE(end_of(server->service()).find("signal 9"), std::string::npos);
}

TEST_F(ObjectStoreTest, CountsWhatItSent) {
  const auto storage = open("remote", server->url());
  int64_t bytes = 0;
  CacheProof proof("as_is", *storage, {}, server->counter());
  proof.slice_begins();
  expect_all(*storage);
  for (const ImageEntry& image : dataset.images) bytes += image.bytes;
  const nlohmann::json cache = harness::encode(proof.slice_ended(bytes));
  EXPECT_EQ(cache["state"], "none");
  ASSERT_TRUE(cache["server_bytes"].is_number()) << cache;
  EXPECT_GE(cache["server_bytes"].get<double>(), double(bytes));
  EXPECT_LE(cache["server_bytes"].get<double>(), double(bytes) + 500.0 * double(dataset.images.size()));
}

TEST_F(ObjectStoreTest, SaysWhyItDoesNotStart) {
  const std::string why = failure_of([&] {
    base::Command command;
    command.arguments = {"sh", "-c", "echo bad luck; exit 3"};
    harness::Service("a program", command, folder.path() / "words").wait_until([] { return false; });
  });
  EXPECT_EQ(why, "a program ended: exit code 3; its last output: bad luck");
}

class MountTest : public ObjectStoreTest {
 protected:
  void SetUp() override {
    if (!harness::why_no_mount().empty()) GTEST_SKIP() << harness::why_no_mount();
    ObjectStoreTest::SetUp();
  }
  void TearDown() override {
    mount.reset();
    ObjectStoreTest::TearDown();
  }
  const fs::path& mounted(bool cached) {
    const harness::Mount::Cache cache{cached ? folder.path() / "cache" : fs::path(), 1 << 30};
    mount.emplace(server->url(), folder.path() / "mount", folder.path() / "mount.log", cache, nullptr);
    return mount->path();
  }
  std::vector<int64_t> all() const {
    std::vector<int64_t> records;
    for (size_t i = 0; i < dataset.images.size(); ++i) records.push_back(int64_t(i));
    return records;
  }
  // The record's `cache` of a slice that reads every image once.
  nlohmann::json cache_of(Storage& storage, const std::string& requested, std::string* violation = nullptr) {
    CacheProof proof(requested, storage, all(), server->counter());
    proof.slice_begins();
    expect_all(storage);
    int64_t bytes = 0;
    for (const ImageEntry& image : dataset.images) bytes += image.bytes;
    nlohmann::json cache = harness::encode(proof.slice_ended(bytes));
    if (violation) *violation = proof.violation();
    return cache;
  }
  std::optional<harness::Mount> mount;
};

TEST_F(MountTest, WithoutACacheEveryReadingAsksTheServer) {
  add_image("train/n00000001/a b#%41?\xc3\xa4.JPEG", small_jpeg(40, 40, 7));
  const auto storage = open("remote_mounted", mounted(false), all());
  EXPECT_FALSE(mounted_here(folder.path())) << "only its own processes see the mount";
  for (int i = 0; i < 2; ++i) {
    const nlohmann::json cache = cache_of(*storage, "as_is");
    EXPECT_EQ(cache["state"], "none");
    EXPECT_GE(cache["server_bytes"], cache["encoded_bytes"]) << cache;
  }
  EXPECT_EQ(storage->used(), "remote_mounted");
}

TEST_F(MountTest, AnEmptyCacheIsProvenColdAndAFilledOneWarm) {
  // As large as real images, because response headers count too and would dominate small images.
  for (int i = 0; i < 20; ++i)
    add_image(fmt::format("train/n00000001/large{}.JPEG", i), Bytes(200000, uint8_t(i)));
  const auto storage = open("remote_cached", mounted(true), all());
  std::string violation;
  const nlohmann::json cold = cache_of(*storage, "cold", &violation);
  EXPECT_EQ(cold["state"], "cold") << cold;
  EXPECT_EQ(violation, "");
  const nlohmann::json warm = cache_of(*storage, "warm", &violation);
  EXPECT_EQ(warm["state"], "warm") << warm;
  EXPECT_EQ(violation, "");
  EXPECT_EQ(warm["server_bytes"], 0);
  cache_of(*storage, "cold", &violation);
  EXPECT_NE(violation.find("requests a cold mount cache"), std::string::npos) << "it is filled by now";
}

TEST_F(MountTest, AMissingImageIsNamed) {
  fs::remove(dataset.root / dataset.images[3].path);
  const auto storage = open("remote_mounted", mounted(false), all());
  const auto reader = storage->reader();
  const std::string why = failure_of([&] { reader->read(3); });
  EXPECT_NE(why.find(dataset.images[3].path), std::string::npos) << why;
  expect_record(*reader, 4);
}

TEST_F(MountTest, AServerThatEndsIsMissed) {
  const auto storage = open("remote_mounted", mounted(false), all());
  const auto reader = storage->reader();
  expect_record(*reader, 0);
  ::kill(server->service().pid(), SIGKILL);
  EXPECT_NE(failure_of([&] { reader->read(1); }), "");
}

TEST_F(MountTest, AMountThatEndsIsMissed) {
  const auto storage = open("remote_cached", mounted(true), all());
  const auto reader = storage->reader();
  expect_record(*reader, 0);
  ::kill(mount->service().pid(), SIGKILL);
  EXPECT_NE(failure_of([&] { reader->read(1); }), "");
  EXPECT_NE(end_of(mount->service()).find("rclone"), std::string::npos);
  EXPECT_NE(failure_of([&] { open("remote_cached", mount->path()); }), "");
}

TEST_F(MountTest, SaysWhyItDoesNotStart) {
  const std::string why = failure_of([&] {
    harness::Mount("http://%zz/", folder.path() / "mount", folder.path() / "mount.log", {}, nullptr);
  });
  EXPECT_NE(why.find("(rclone) ended: exit code"), std::string::npos) << why;
  EXPECT_NE(why.find("invalid URL escape"), std::string::npos) << why;
}

// Not a separate test: serves and mounts until it is killed.
TEST(DISABLED_Server, ServesAndMounts) {
  const fs::path folder = std::getenv("REMOTE_TEST_FOLDER");
  harness::ObjectStore server(folder / "data", folder / "server", folder / "log", nullptr);
  const harness::Mount mount(server.url(), folder / "mount", folder / "mount.log",
                             {folder / "cache", 1 << 30}, nullptr);
  std::ofstream(folder / "ready") << mount.path();
  ::pause();
}

TEST_F(MountTest, AKillLeavesNoProcessAndNoMount) {
  TemporaryFolder other;
  const Dataset data = small_dataset(other.path() / "data", 2);
  base::Command command;
  command.arguments = {fs::read_symlink("/proc/self/exe"), "--gtest_also_run_disabled_tests",
                       "--gtest_filter=DISABLED_Server.*"};
  command.environment["REMOTE_TEST_FOLDER"] = other.path();
  harness::Service child("the child", command, other.path() / "child.log");
  child.wait_until([&] { return fs::exists(other.path() / "ready"); });
  EXPECT_NE(processes_naming(other.path()), "");
  ::kill(child.pid(), SIGKILL);
  EXPECT_EQ(left_behind(other.path()), "");
  EXPECT_FALSE(mounted_here(other.path()));
}

TEST_F(MountTest, BehindAShapedLinkItIsReadInTheFirstNode) {
  if (!harness::why_no_two_nodes().empty()) GTEST_SKIP() << harness::why_no_two_nodes();
  const fs::path index = folder.path() / "index.tsv", logs = folder.path() / "logs";
  write_index(dataset, index);
  fs::create_directories(logs);
  harness::Row row;
  row.store_rate_mbit = 100;
  fs::path cache;
  {
    const harness::RemoteStorage remote(row, "mount_cached",
                                        {index, folder.path() / "scratch", folder.path() / "store", logs});
    base::Command command;
    command.arguments = remote.nodes()->enter(0);
    for (const std::string& word : {std::string("cat"), remote.location() + "/" + dataset.images[3].path})
      command.arguments.push_back(word);
    const std::string bytes = base::run_to_end(command).output;
    EXPECT_EQ(Bytes(bytes.begin(), bytes.end()), read_bytes(dataset.root / dataset.images[3].path));
    const nlohmann::json facts = harness::encode(remote.describe());
    EXPECT_EQ(facts["link"], "veth");
    EXPECT_GE(facts["received_bytes"], dataset.images[3].bytes);
    EXPECT_EQ(facts["cache_bytes"], dataset.images[3].bytes);
    EXPECT_FALSE(fs::is_empty(folder.path() / "store"));
  }
  EXPECT_TRUE(fs::is_empty(folder.path() / "store"));
}

TEST(ScratchOnADisk, RemovesWhatAKilledRunLeft) {
  const TemporaryFolder place;
  const fs::path left = place.path() / "cache-2147483000", foreign = place.path() / "cache-x";
  fs::create_directories(left / "vfs");
  std::ofstream(left / ".lock").flush();  // no process holds it
  fs::create_directories(foreign);
  fs::path own;
  {
    const base::Scratch scratch(place.path(), "cache-");
    own = scratch.path();
    EXPECT_TRUE(fs::is_directory(own));
    EXPECT_FALSE(fs::exists(left));
    EXPECT_TRUE(fs::exists(foreign));
  }
  EXPECT_FALSE(fs::exists(own));
}

}  // namespace bench::remote_test
