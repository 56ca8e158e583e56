// unit: an external loader's batches are those of its adapter; what is wrong with them, or with the program,
// is named; its end and its reader's are noticed within a second, and nothing is left of it
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/loading/loader/loader.h"
#include "harness/base/child_process.h"
#include "harness/base/descendants.h"
#include "tests/support/failure_of.h"
#include "tests/support/loaded_batches.h"

namespace bench::external_loader_test {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kBatches = 5;
// Yields batches that were written to a file beforehand. Images and labels are of the standard library's
// types.
constexpr const char* kAdapter = R"(import array, os
def read(batch, data):
    size = 3 * data.px * data.px * (1 if data.format == "uint8" else 4)
    shape = (batch, data.px, data.px, 3) if data.format == "uint8" else (batch, 3, data.px, data.px)
    kind = "B" if data.format == "uint8" else "f"
    with open(data.arguments[0], "rb") as file:
        for number in range(5):
            images = memoryview(bytearray(file.read(batch * size))).cast(kind, shape)
            yield images, [image.label for image in data.images[number * batch:(number + 1) * batch]]
def batches(rank, world, batch, threads, data):
    all = list(read(batch, data))
    order = range(4, -1, -1) if "backwards" in data.arguments else range(5)
    yield from (all[i] for i in order)
)";

class ExternalLoader : public testing::Test {
 protected:
  void SetUp() override {
    if (!base::program_exists("python3")) GTEST_SKIP() << "no python3";
    dataset_ = small_dataset(folder_.path() / "data", 31);
    storage_ = open_storage("files", {dataset_, "", true, {}});
    shared_memory_ = names_in("/dev/shm");
  }
  void TearDown() override { EXPECT_EQ(names_in("/dev/shm"), shared_memory_); }
  static std::set<std::string> names_in(const fs::path& folder) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder))
      if (const std::string name = entry.path().filename(); !name.starts_with("suite-test-"))  // other tests'
        names.insert(name);
    return names;
  }
  // The ring's options; `adapter`: text of the file.
  LoaderOptions options(const std::string& adapter, const std::vector<std::string>& arguments = {},
                        BatchFormat format = BatchFormat::uint8) {
    write_bytes(folder_.path() / "adapter.py", Bytes(adapter.begin(), adapter.end()));
    LoaderOptions options = options_for(dataset_, 2);
    options.format = format;
    options.external.emplace();
    options.external->command = {"python3", SOURCE_DIR "/bench/loading/external/ring.py",
                                 folder_.path() / "adapter.py"};
    options.external->command.insert(options.external->command.end(), arguments.begin(), arguments.end());
    options.external->folder = folder_.path();
    options.external->classes = 2;
    options.external->images = kBatches * options.batch_size;
    return options;
  }
  // Copies of the batches that this suite's loader makes, and the file with their images.
  std::vector<Bytes> expected(LoaderOptions options, const fs::path& file) {
    options.external.reset();
    const auto loader = started(*storage_, options);
    std::vector<Bytes> all;
    Bytes text;
    for (int i = 0; i < kBatches; ++i) {
      const Batch batch = loader->next();
      all.push_back(bytes_of(batch, options));
      loader->release(batch);
      text.insert(text.end(), all.back().begin(), all.back().end());
    }
    write_bytes(file, text);
    return all;
  }
  static Bytes bytes_of(const Batch& batch, const LoaderOptions& options) {
    const auto* images = static_cast<const uint8_t*>(batch.images);
    return {images, images + batch.size * bytes_per_image(options.format, options.image_px)};
  }
  // What next() of the fifth batch at the latest, or the start, says.
  std::string failure(const std::string& adapter, double silence_s = 20) {
    LoaderOptions wanted = options(adapter);
    wanted.external->start_s = wanted.external->silence_s = silence_s;
    return failure(wanted);
  }
  std::string failure(const LoaderOptions& options) {
    return failure_of([&] {
      const auto loader = started(*storage_, options);
      for (int i = 0; i < kBatches; ++i) loader->release(loader->next());
    });
  }
  const TemporaryFolder folder_;
  Dataset dataset_;
  std::unique_ptr<Storage> storage_;
  std::set<std::string> shared_memory_;
};

TEST_F(ExternalLoader, HandsOverTheAdaptersBatches) {
  for (const BatchFormat format : {BatchFormat::uint8, BatchFormat::float32}) {
    const fs::path file = folder_.path() / "batches";
    const LoaderOptions wanted = options(kAdapter, {file}, format);
    const std::vector<Bytes> all = expected(wanted, file);
    const auto loader = started(*storage_, wanted);
    for (int i = 0; i < kBatches; ++i) {
      const auto asked_at = Clock::now();
      const Batch batch = loader->next();
      EXPECT_EQ(batch.number, i);
      EXPECT_EQ(bytes_of(batch, wanted), all[size_t(i)]) << i;
      EXPECT_LT(batch.ready_at, Clock::now());
      EXPECT_GT(batch.ready_at, asked_at - std::chrono::minutes(1)) << "one clock for both processes";
      loader->release(batch);
    }
    const auto external = loader->compare();
    ASSERT_TRUE(external);
    EXPECT_EQ(external->misplaced, 0);
    EXPECT_EQ(external->compared, kBatches * wanted.batch_size);
    EXPECT_EQ(external->greatest_difference.value(), 0);
    EXPECT_EQ(loader->stats().images, kBatches * wanted.batch_size);
    EXPECT_GT(loader->stats().encoded_bytes, 0);
  }
}

TEST_F(ExternalLoader, ComparesImagesOfAnOwnOrderByTheirLabels) {
  const fs::path file = folder_.path() / "batches";
  const LoaderOptions wanted = options(kAdapter, {file, "backwards"});
  expected(wanted, file);
  const auto loader = started(*storage_, wanted);
  for (int i = 0; i < kBatches; ++i) loader->release(loader->next());
  const auto external = loader->compare();
  EXPECT_GT(external->misplaced, 0);
  EXPECT_EQ(external->greatest_difference.value(), 0);
}

TEST_F(ExternalLoader, OtherPixelsDiffer) {
  const LoaderOptions wanted = options(R"(
def batches(rank, world, batch, threads, data):
    for number in range(5):
        labels = [image.label for image in data.images[number * batch:(number + 1) * batch]]
        yield memoryview(bytearray(batch * 3 * data.px ** 2)).cast("B", (batch, data.px, data.px, 3)), labels
)");
  const auto loader = started(*storage_, wanted);
  for (int i = 0; i < kBatches; ++i) loader->release(loader->next());
  EXPECT_EQ(loader->compare()->misplaced, 0);
  EXPECT_GT(loader->compare()->mean_difference.value(), 20);
}

TEST_F(ExternalLoader, WhatIsNoBatchIsNamed) {
  const auto yielding = [](const std::string& images, const std::string& labels = "[0] * batch") {
    return "def batches(rank, world, batch, threads, data):\n"
           "    def image(kind='B', shape=None):\n"
           "        size = {'B': 1, 'f': 4}[kind] * 3 * data.px ** 2 * batch\n"
           "        return memoryview(bytearray(size)).cast(kind, shape or (batch, data.px, data.px, 3))\n"
           "    for number in range(5):\n"
           "        yield " +
           images + (labels.empty() ? "" : ", " + labels) + "\n";
  };
  EXPECT_EQ(failure(yielding("image()")), "");
  EXPECT_EQ(failure(yielding("image()", "(__import__('ctypes').c_int64 * batch)()")), "");
  EXPECT_EQ(failure(yielding("image()", "memoryview((__import__('ctypes').c_uint8 * (2 * batch))())[::2]")),
            "");
  EXPECT_SAYS(failure(yielding("image('f')")),
              "images of batch 0: expected (6, 16, 16, 3) of type B, found (6, 16, 16, 3) of type f");
  EXPECT_SAYS(failure(yielding("image('B', (batch, 3, data.px, data.px))")),
              "expected (6, 16, 16, 3) of type B, found (6, 3, 16, 16)");
  EXPECT_SAYS(failure(yielding("image() if number < 2 else image()[:4]")),
              "images of batch 2: expected (6, 16, 16, 3) of type B, found (4,");
  EXPECT_SAYS(failure(yielding("image()", "[0] * (batch - number // 3)")),
              "labels of batch 3: expected (6,)");
  EXPECT_SAYS(failure(yielding("image()", "image()")), "labels of batch 0: expected (6,)");
  EXPECT_SAYS(failure(yielding("image()", "[number] * batch")), "label 2 in batch 2; expected 0 to 1");
  EXPECT_SAYS(failure(yielding("image()", "[-1] * batch")), "label -1 in batch 0; expected 0 to 1");
  EXPECT_SAYS(failure(yielding("image()", "")), "batch 0: expected images, labels; found memoryview");
  EXPECT_SAYS(failure(yielding("number")), "images: expected a buffer, a tensor or an array, found int");
  EXPECT_SAYS(failure("x = 1\n"),
              "expected a function batches(rank, world, batch, threads, data), found none");
}

TEST_F(ExternalLoader, AnAdapterThatFailsIsNamed) {
  EXPECT_SAYS(failure("def batches(*all):\n    raise ValueError('no\\nluck')\n"),
              "adapter.py`: ValueError: no luck (");
  EXPECT_SAYS(failure("def batches(*all):\n    raise ValueError('no\\nluck')\n"), "adapter.py:2)");
  EXPECT_SAYS(failure("def batches(*all)\n"), "SyntaxError");
  EXPECT_SAYS(failure("def prepare(*all):\n    raise OSError('disk')\ndef batches(*all):\n    yield\n"),
              "OSError: disk");
  EXPECT_SAYS(failure("def batches(*all):\n    return iter(())\n"),
              "the adapter ended after 0 batches; expected 5");
  EXPECT_SAYS(failure("import os\ndef batches(*all):\n    os._exit(3)\n"),
              "ended with exit code 3 after 0 batches");
  EXPECT_SAYS(failure("import os\ndef batches(*all):\n    os.kill(os.getpid(), 9)\n"),
              "was ended by signal 9 (Killed)");
}

TEST_F(ExternalLoader, AProgramThatIsNoPythonIsNamed) {
  LoaderOptions wanted = options("");
  wanted.external->command[0] = folder_.path() / "none";
  EXPECT_SAYS(failure(wanted), "none: can't be started: No such file or directory");
  wanted.external->command[0] = "true";
  EXPECT_SAYS(failure(wanted), "ended with exit code 0");
  wanted.external->command[0] = "echo";
  EXPECT_SAYS(failure(wanted), "wrote something unexpected");
}

TEST_F(ExternalLoader, AnAdapterThatHangsTellsWhere) {
  const std::string said = failure("import time\ndef batches(*all):\n    time.sleep(60)\n    yield\n", 1);
  EXPECT_SAYS(said, "was waited 1 s for batch 0; it is in ");
  EXPECT_SAYS(said, "adapter.py\", line 3 in batches");
  EXPECT_SAYS(failure("import time\ntime.sleep(60)\n", 1), "1 s until its adapter was prepared; it is in ");
}

// Its worker keeps everything open that it inherited.
constexpr const char* kWithWorker = R"(import os, time
def batches(rank, world, batch, threads, data):
    worker = os.fork()
    if worker == 0:
        time.sleep(60)
    with open(data.arguments[0] + ".draft", "w") as file:
        file.write("%d %d" % (os.getpid(), worker))
    os.rename(data.arguments[0] + ".draft", data.arguments[0])
    while True:
        yield memoryview(bytearray(batch * 3 * data.px ** 2)).cast("B", (batch, data.px, data.px, 3)), [0] * batch
)";

struct Pids {
  pid_t program = 0, worker = 0;
};

Pids pids_in(const fs::path& file) {
  Pids pids;
  for (int tries = 0; tries < 1000 && !fs::exists(file); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::ifstream(file) >> pids.program >> pids.worker;
  return pids;
}

bool ends_within_a_second(pid_t pid) {
  for (int tries = 0; tries < 100 && base::is_running(pid); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return !base::is_running(pid);
}

TEST_F(ExternalLoader, ItsDeathIsNoticedAtOnceAndItsWorkersEnd) {
  const fs::path file = folder_.path() / "pids";
  Pids pids;
  {
    const auto loader = started(*storage_, options(kWithWorker, {file}));
    loader->release(loader->next());
    pids = pids_in(file);
    ASSERT_GT(pids.worker, 0);
    ::kill(pids.program, SIGKILL);
    const auto begin = Clock::now();
    EXPECT_SAYS(failure_of([&] {
                  for (int i = 0; i < 10; ++i) loader->release(loader->next());
                }),
                "was ended by signal 9 (Killed) after ");
    EXPECT_LT(Clock::now() - begin, std::chrono::seconds(1));
  }
  EXPECT_TRUE(ends_within_a_second(pids.worker));
}

TEST_F(ExternalLoader, EndsWithItsReader) {
  const fs::path file = folder_.path() / "pids";
  const LoaderOptions wanted = options(kWithWorker, {file});
  const pid_t reader = ::fork();
  if (reader == 0) {
    const auto loader = started(*storage_, wanted);
    for (;;) loader->release(loader->next());
  }
  const Pids pids = pids_in(file);
  ASSERT_GT(pids.program, 0);
  ::kill(reader, SIGKILL);
  ::waitpid(reader, nullptr, 0);
  EXPECT_TRUE(ends_within_a_second(pids.program));
  ::kill(pids.worker, SIGKILL);  // in a row, the harness ends it: its grandparent
}

// The time from the request of a batch that is not made yet until it is there; the adapter makes it at once.
// Depth 1.
TEST_F(ExternalLoader, HandsOverInLessThan50Microseconds) {
  LoaderOptions wanted = options(R"(
def batches(rank, world, batch, threads, data):
    images = memoryview(bytearray(batch * 3 * data.px ** 2)).cast("B", (batch, data.px, data.px, 3))
    while True:
        yield images, [0] * batch
)");
  wanted.ring_depth = 1;
  const auto loader = started(*storage_, wanted);
  std::vector<double> us;
  for (int i = 0; i < 2000; ++i) {
    const Batch batch = loader->next();
    us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - batch.ready_at).count());
    loader->release(batch);
  }
  std::sort(us.begin(), us.end());
  RecordProperty("median_us", std::to_string(us[us.size() / 2]));
  fmt::print("from complete to handed over: median {:.1f} us, 90 % {:.1f} us\n", us[us.size() / 2],
             us[us.size() * 9 / 10]);
  EXPECT_LT(us[us.size() / 4], 50) << "the fastest quarter, because other programs share the cores";
}

}  // namespace bench::external_loader_test
