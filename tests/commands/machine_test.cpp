// unit: what this machine feeds, from made-up records of its rows and with a fake train_slice; compare of two
// machines.
#include <fmt/format.h>

#include "harness/compare/comparison.h"
#include "harness/report/summary/machine_answer.h"
#include "tests/support/embedded.h"
#include "tests/support/program.h"
#include "tests/support/small_images.h"
#include "tests/support/typed_records.h"

namespace harness::machine_test {
namespace {

constexpr int64_t kBatch = 32, kBatches = 10;

json row_of(const std::string& id, double images_per_s, int64_t cores = 2) {
  const double total_s = double(kBatch * kBatches) / images_per_s;
  return {
      {"row", id},
      {"scale", {{"name", "machine"}}},
      {"device", {{"kind", "cpu"}}},
      {"config", {{"batch", kBatch}, {"cpus", cores}, {"loader_threads", cores}, {"part", "loading"}}},
      {"warmup_batches", 0},
      {"timed_batches", kBatches},
      {"total_s", total_s},
      {"images_per_second", images_per_s},
      {"cache", {{"state", id == "read" ? "cold" : "warm"}, {"encoded_bytes", kBatch * kBatches * 100000}}},
      {"device_rates", {{"v100-article", 1000}, {"a100", 4000}}}};
}

std::vector<json> rows_of(double read, double decode, int64_t cores = 2) {
  return {row_of("read", read, cores), row_of("decode-one", decode / double(cores), 1),
          row_of("decode-all", decode, cores), row_of("step", 12, cores)};
}

json failed(const std::string& id, const std::string& status, const std::string& reason) {
  json record = row_of(id, 1);
  for (const char* figure : {"total_s", "images_per_second"}) record.erase(figure);
  record["status"] = status, record["reason"] = reason;
  return record;
}

std::string sentence_of(const std::vector<json>& objects) {
  const Records records = typed(objects);
  return machine_sentence(machine_answer(summarise(records).at(0)).value());
}

TEST(Machine, TheSlowerOfReadingAndDecodingDecidesWhatItFeeds) {
  EXPECT_EQ(sentence_of(rows_of(4100, 1800)),
            "This machine itself, without emulation, decodes 1800 images/s on 2 cores and reads 410 MB/s "
            "cold: it feeds ResNet18 on 2.0 V100 (900 "
            "images/s "
            "each), 0.5 A100 (3600 images/s each); limit: cores.");
  EXPECT_EQ(sentence_of(rows_of(270, 1800, 1)),
            "This machine itself, without emulation, decodes 1800 images/s on 1 core and reads 27 MB/s cold: "
            "it feeds ResNet18 on 0.3 V100 (900 images/s "
            "each), 0.075 A100 (3600 images/s each); limit: disk.");
}

TEST(Machine, ReadingThatWasNotProvenColdHasNoFigure) {
  std::vector<json> warm = rows_of(4100, 1800), unknown = warm;
  warm[0] = failed("read", "INVALID", "cache: 100 % of the pages were resident");
  unknown[0]["cache"]["state"] = "unknown";
  for (const auto& [records, why] :
       {std::pair(warm, "row read is INVALID: cache: 100 % of the pages were resident"),
        std::pair(unknown, "whether the page cache was cold can't be told here: its state is unknown")}) {
    EXPECT_EQ(
        sentence_of(records),
        fmt::format("This machine itself, without emulation, decodes 1800 images/s on 2 cores: from memory "
                    "it feeds ResNet18 on 2.0 V100 (900 images/s "
                    "each), 0.5 A100 (3600 images/s each); limit: cores. Cold reading was not measured "
                    "({}).",
                    why));
  }
}

TEST(Machine, WithoutDecodingNothingIsSaidOfDevices) {
  std::vector<json> rows = rows_of(4100, 1800);
  rows[2] = failed("decode-all", "OUT_OF_MEMORY", "wanted 1 TB");
  EXPECT_EQ(sentence_of(rows),
            "This machine itself, without emulation, reads 410 MB/s cold. Decoding was not measured (row "
            "decode-all is OUT_OF_MEMORY: "
            "wanted 1 "
            "TB).");
  const Records records = typed(rows);
  for (const auto& [name, text] : machine_facts(machine_answer(summarise(records).at(0)).value()))
    if (name == "Feeds a100") {
      EXPECT_EQ(text.find("an unknown number of devices"), 0u) << text;
    }
  rows.erase(rows.begin());
  EXPECT_EQ(sentence_of(rows).find("Neither decoding nor cold reading could be measured on this machine"),
            0u);
}

TEST(Machine, OtherScalesHaveNoSuchAnswer) {
  json record = row_of("read", 100);
  record["scale"]["name"] = "rehearsal";
  const Records records = typed(std::vector<json>{record});
  EXPECT_FALSE(machine_answer(summarise(records).at(0)));
}

TEST(Machine, TwoMachinesAreComparedRowByRow) {
  const Records small = typed(rows_of(270, 900, 1)), large = typed(rows_of(2700, 3600, 4));
  const Comparison comparison = compare(small, large, {});
  ASSERT_EQ(comparison.compared(), 4u);
  EXPECT_NEAR(comparison.rows[0].effect.ratio, 10, 1e-9);
  EXPECT_NEAR(comparison.rows[2].effect.ratio, 4, 1e-9);
}

class MachineCommand : public Program {};

TEST_F(MachineCommand, RunsItsRowsAndPrintsTheAnswerLast) {
  bench::small_dataset(directory / "data", 64);
  EXPECT_EQ(run({"machine", "--data", directory / "data", "--only", "decode-one,decode-all,step", "--out",
                 directory / "run"}),
            0)
      << errors();
  const std::string answer = content_of(directory / "run/machine.txt");
  ASSERT_EQ(answer.find("Answer: This machine itself, without emulation, decodes 8000 images/s on "), 0u)
      << answer;
  EXPECT_NE(output().find(answer), std::string::npos) << output();
  const json page = json::parse(element(content_of(directory / "run/report.html"), "page"));
  EXPECT_EQ(page.at("sections").at(0).at("id"), "machine");
  for (const json& record : records_in("run")) {
    EXPECT_EQ(record["device_rates"].size(), 3u);
    EXPECT_FALSE(record.contains("emulated") && !record["emulated"].empty()) << "nothing is emulated";
    if (record["row"] == "decode-one") {
      EXPECT_EQ(record["config"]["cpus"], 1);
    }
    if (record["row"] == "decode-all") {
      EXPECT_EQ(record["config"]["part"], "loading");
    }
  }
}

TEST_F(MachineCommand, OptionsThatWouldChangeItsRowsAreRefused) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--device", "cpu"}, {"--scale", "smoke"}}) {
    std::vector<std::string> all = words;
    all.insert(all.begin(), "machine");
    EXPECT_EQ(run(all), 2);
    EXPECT_TRUE(says("has no meaning for machine, which chooses its own runs")) << errors();
  }
}

}  // namespace
}  // namespace harness::machine_test
