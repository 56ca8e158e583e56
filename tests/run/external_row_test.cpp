// train: rows with an external loader: figures, checks, flag and processor time of another program's batches;
// what ends such a row is its reason
#include <fstream>

#include "tests/support/real_rows.h"

namespace harness::external_row_test {

class ExternalRow : public RealRows {
 protected:
  void SetUp() override {
    if (!base::program_exists("python3")) GTEST_SKIP() << "no python3";
  }
  // Runs rows of these adapters; `more`: further fields of every row.
  std::map<std::string, Record> run(const std::map<std::string, std::string>& adapters,
                                    const std::string& more = "", const std::string& device = "cpu",
                                    const std::string& setting = "") {
    std::ofstream matrix(folder / "matrix.yaml");
    matrix << "title: test\nsource: test\ndefaults: {storage: files, cache: as_is, identity: own, "
              "compare_pixels: false, loader: external, batch: 64"
           << more << "}\nrows:\n";
    for (const auto& [id, text] : adapters) {
      std::ofstream(folder / (id + "_adapter.py")) << text;
      matrix << "  " << id << ": {title: t, command: \"python3 '" << (folder / (id + "_adapter.py")).string()
             << "'\"}\n";
    }
    matrix.close();
    Words words = {folder / "matrix.yaml", "--hang-after", "10", "--out", folder / "run", "--device", device};
    if (!setting.empty()) words.insert(words.end(), {"--set", setting});
    RealRows::run(words);
    return rows();
  }
};

// Batches of zeros with the list's labels; `before`: Python code before each of them.
std::string zeros(const std::string& before = "") {
  return "import os, time\n"
         "def batches(rank, world, batch, threads, data):\n"
         "    for number in range(len(data.images) // batch):\n" +
         (before.empty() ? "" : "        " + before + "\n") +
         "        images = memoryview(bytearray(batch * 12 * data.px ** 2)).cast('B').cast('f', (batch, 3, data.px, data.px))\n"
         "        yield images, [image.label for image in data.images[number * batch:(number + 1) * batch]]\n";
}

TEST_F(ExternalRow, TrainsOnAnotherProgramsBatches) {
  const auto records = run(
      {{"zeros", zeros("end = time.process_time() + 0.05\n        while time.process_time() < end: pass")}});
  const Record& record = records.at("zeros");
  ASSERT_EQ(record.status, "OK") << record.reason << said;
  EXPECT_GT(record.images_per_second.value(), 0);
  EXPECT_EQ(record.external.value().misplaced, 0);
  EXPECT_EQ(record.external->compared, 0);
  EXPECT_GT(record.environment.window_own_s.value(), 0.2) << "the other program's time counts";
  EXPECT_GT(record.max_rss_bytes.value_or(0), 0);
  EXPECT_SAYS(said, "flag X: batches come from another program's loader");
  EXPECT_FALSE(fs::exists(folder / "run/rows/zeros-repeat0/loader"));
}

// A slow device: a host that other programs keep busy is a few percent of its batch behind.
TEST_F(ExternalRow, FeedsAnEmulatedDeviceAtItsOwnSpeed) {
  const auto records = run({{"zeros", zeros()}}, "", "emulated:test-150", "core_images_per_s=0");
  const Record& record = records.at("zeros");
  ASSERT_EQ(record.status, "OK") << record.reason << said;
  EXPECT_EQ(record.config.time_scale, 1);
  EXPECT_EQ(record.config.core_images_per_s, 0);
}

TEST_F(ExternalRow, WhatEndsARowIsItsReason) {
  const auto records = run({{"missing", "import no_such_package\n" + zeros()},
                            {"raises", zeros("if number == 3: raise ValueError('gone')")},
                            {"short", zeros("if number == 3: return")},
                            {"dies", zeros("if number == 3: os.kill(os.getpid(), 9)")},
                            {"hangs", zeros("if number == 3: time.sleep(60)")}});
  const auto expect = [&](const char* row, const char* status, const char* reason) {
    EXPECT_EQ(records.at(row).status, status);
    EXPECT_SAYS(records.at(row).reason, reason);
    EXPECT_FALSE(records.at(row).images_per_second.has_value());
  };
  expect("missing", "SKIPPED", "-m pip install no_such_package");
  expect("raises", "CRASHED", "ValueError: gone");
  expect("short", "INVALID", "the adapter ended after 3 batches; expected 8");
  expect("dies", "CRASHED", "was ended by signal 9 (Killed) after 3 batches");
  expect("hangs", "HUNG", "for batch 3; it is in ");
}

TEST_F(ExternalRow, OtherPixelsHaveNoFigure) {
  const auto records = run({{"zeros", zeros()}}, ", part: loading", "cpu", "compare_pixels=true");
  EXPECT_EQ(records.at("zeros").status, "INVALID");
  EXPECT_SAYS(records.at("zeros").reason, "pixels: 32 images differ from this suite's by ");
}

}  // namespace harness::external_row_test
