// unit: images from a real nginx through a real rclone mount, with and without its cache; what is said when
// something is missing or ends; nothing is left behind.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>

#include "bench/loading/storage/cache_proof.h"
#include "harness/emulate/mount.h"
#include "tests/support/failure_of.h"
#include "tests/support/object_store.h"

namespace bench::remote_mount_test {

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
  EXPECT_SAYS(violation, "requests a cold mount cache") << "it is filled by now";
}

// The kernel counts no bytes that a process reads from there, which is no proof of a warm cache.
TEST_F(MountTest, WhatTheKernelDoesNotCountRefutesNoColdCache) {
  const auto storage = open("remote_cached", mounted(true), all());
  EXPECT_EQ(remote_file_system(mount->path()), "FUSE");
  EXPECT_EQ(remote_file_system(BINARY_DIR), "");
  CacheProof proof("cold", *storage, all());
  proof.slice_begins();
  expect_all(*storage);
  const harness::RecordCache cache = proof.slice_ended(1'000'000);
  EXPECT_EQ(proof.violation(), "");
  EXPECT_EQ(cache.state, "cold");
  EXPECT_SAYS(cache.note, "FUSE, of which the kernel may count no reads");
}

TEST_F(MountTest, AMissingImageIsNamed) {
  fs::remove(dataset.root / dataset.images[3].path);
  const auto storage = open("remote_mounted", mounted(false), all());
  const auto reader = storage->reader();
  const std::string why = failure_of([&] { reader->read(3); });
  EXPECT_SAYS(why, dataset.images[3].path);
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
  EXPECT_SAYS(end_of(mount->service()), "rclone");
  EXPECT_NE(failure_of([&] { open("remote_cached", mount->path()); }), "");
}

TEST_F(MountTest, SaysWhyItDoesNotStart) {
  const std::string why = failure_of([&] {
    harness::Mount("http://%zz/", folder.path() / "mount", folder.path() / "mount.log", {}, nullptr);
  });
  EXPECT_SAYS(why, "(rclone) ended with exit code");
  EXPECT_SAYS(why, "invalid URL escape");
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

}  // namespace bench::remote_mount_test
