// unit: images from a real nginx; what is said when something is missing or ends; nothing is left behind.
#include <fmt/format.h>
#include <signal.h>

#include "bench/loading/storage/cache_proof.h"
#include "harness/base/interrupt.h"
#include "harness/base/listener.h"
#include "tests/support/failure_of.h"
#include "tests/support/object_store.h"

namespace bench::remote_test {

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
  EXPECT_SAYS(why, dataset.images[3].path);
  EXPECT_SAYS(why, "HTTP status 404");
  expect_record(*reader, 4);
}

TEST_F(ObjectStoreTest, AnImageThatChangedItsLengthIsRefused) {
  const auto storage = open("remote", server->url());
  const auto reader = storage->reader();
  for (const int64_t more : {-1, 1, 1 << 20}) {
    fs::resize_file(dataset.root / dataset.images[3].path, uintmax_t(dataset.images[3].bytes + more));
    const std::string why = failure_of([&] { reader->read(3); });
    EXPECT_SAYS(why, fmt::format("the index says {}", dataset.images[3].bytes));
    expect_record(*reader, 4);
  }
  dataset.images[3].bytes = int64_t{1} << 40;
  const auto other = open("remote", server->url());
  EXPECT_SAYS(failure_of([&] { other->reader()->read(3); }), "at most");
}

TEST_F(ObjectStoreTest, WhatIsOutOfReachIsNamed) {
  int port = 0;
  { port = base::Listener(0, false).port(); }
  const std::string url = fmt::format("http://127.0.0.1:{}/", port);
  const std::string why = failure_of([&] { open("remote", url); });
  EXPECT_SAYS(why, url);
  EXPECT_SAYS(why, "running");
  EXPECT_SAYS(failure_of([&] { open("remote", ""); }), "URL");
  EXPECT_SAYS(failure_of([&] { open("remote", server->url() + "nothing/"); }), "404");
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
  EXPECT_SAYS(why, server->url());
  EXPECT_SAYS(end_of(server->service()), "signal 9");
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
  EXPECT_EQ(why, "a program ended with exit code 3; its last output: bad luck");
}

// Else each Ctrl-C would be answered with another start.
TEST(ObjectStore, ThatCtrlCEndsIsNotStartedAgain) {
  const TemporaryFolder folder;
  const fs::path fake = folder.path() / "nginx", calls = folder.path() / "calls";
  std::ofstream(fake) << "#!/bin/sh\necho started >> " << calls << "\nkill -INT $PPID\nexec sleep 30\n";
  fs::permissions(fake, fs::perms::owner_all);
  const auto interrupted = [&] {  // in a process of its own: an interrupt can't be taken back
    ::setenv("PATH", (folder.path().string() + ":" + ::getenv("PATH")).c_str(), 1);
    base::note_interrupts();
    const std::string why = failure_of([&] {
      harness::ObjectStore(folder.path(), folder.path() / "server", folder.path() / "log", nullptr);
    });
    _exit(why == "interrupted" ? 130 : 1);
  };
  EXPECT_EXIT(interrupted(), testing::ExitedWithCode(130), "");
  EXPECT_EQ(content_of(calls), "started\n");
}

}  // namespace bench::remote_test
