// unit: cores that rows get on small and large machines, and the claims that a plan can test there
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "harness/config/row_traits.h"
#include "harness/plan/resources.h"
#include "tests/support/article_rows.h"
#include "tests/support/failure_of.h"
#include "tests/support/program.h"

namespace harness::claim_forecast_test {

Row given(const char* id, int64_t cores, const Request& request = {}) {
  Row row = row_of(article().rows, id);
  give_cores(row, cores, request);
  return row;
}

TEST(Cores, AreAsManyAsReplicasAndLoaderNeedWhereTheMachineHasThem) {
  EXPECT_EQ(given("0", 32).cpus, 1 + 4);
  EXPECT_EQ(given("7", 32).cpus, 4 + 4);
  EXPECT_EQ(given("10", 32).cpus, 4 + 12);
  EXPECT_EQ(given("11", 32).cpus, 4 + 16);
  EXPECT_EQ(given("7", 8).cpus, 8);
  EXPECT_EQ(given("7", 7).cpus, 4) << "one too few: as the row asks";
  EXPECT_EQ(given("17", 64).cpus, 12) << "its nodes share the cores of this machine";
}

TEST(Cores, OfASmallMachineAreClippedAsEver) {
  for (const char* id : {"0", "7", "10", "12"}) {
    Row row = row_of(article().rows, id);
    const int64_t asked = row.cpus;
    EXPECT_EQ(give_cores(row, 2, {}), fmt::format("cpus: {} clipped to 2", asked));
    EXPECT_EQ(row.cpus, 2);
  }
}

TEST(Cores, GivenAsANumberStayThatNumber) {
  Request request;
  request.set = {"cpus=2"};
  EXPECT_EQ(given("7", 32, request).cpus, 4);
  request = {};
  request.launcher = "mpirun";
  EXPECT_EQ(given("7", 32, request).cpus, 4);
  Row row = row_of(article().rows, "7");
  row.as_run.push_back("cpus");
  EXPECT_EQ(give_cores(row, 32, {}), "");
  Row gpus = row_of(article().rows, "7");
  gpus.device = "cuda";
  EXPECT_EQ(give_cores(gpus, 32, {}), "") << "the article's cores feed GPUs";
}

class Forecast : public Program {
 protected:
  std::string plan(const std::string& machine, std::vector<std::string> more = {}, int code = 0) {
    std::ofstream(directory / "machine.yaml") << machine;
    more.insert(more.end(), {"--dry-run", "--scale", "rehearsal", "--device", "cpu", "--out",
                             directory / "run", "--machine", directory / "machine.yaml"});
    EXPECT_EQ(run(more), code) << errors();
    return output();
  }
  // The line of the claims that can be tested.
  static std::string testable(const std::string& text) {
    const size_t begin = text.find("claims of the article that this plan can test: ");
    return begin == std::string::npos ? "" : text.substr(begin, text.find('\n', begin) - begin) + ",";
  }
};

TEST_F(Forecast, Claims5To8CanBeTestedOn32Cores) {
  const std::string text = plan("cores: 32\nmemory_gib: 128\n");
  const std::string line = testable(text);
  for (const char* claim : {" 5,", " 6,", " 7a,", " 7b,", " 8a,", " 8b,", " 8c,"})
    EXPECT_SAYS(line, claim) << text;
  EXPECT_EQ(line.find(" 9a,"), std::string::npos) << "scatter between replicas crosses nothing";
  EXPECT_SAYS(text, "9a   cannot be tested here: the device is the processor itself");
  EXPECT_SAYS(text, "cpus: 4 raised to 8, one for each loader thread");
}

TEST_F(Forecast, TwoCoresCannotTestThemAndSayWhy) {
  const std::string text = plan("cores: 2\n");
  for (const char* claim : {" 5,", " 6,", " 7a,", " 8a,"})
    EXPECT_EQ(testable(text).find(claim), std::string::npos) << claim;
  EXPECT_SAYS(text, "in [7] 4 replicas and 4 loader threads share 2 cores");
  EXPECT_SAYS(text, "  8: cpus: 6 clipped to 2\n");
  const std::string note = "cpus: 12 clipped to 2\n";
  const size_t once = text.find("  10, 12, 16: " + note);
  ASSERT_NE(once, std::string::npos) << "what holds for many rows stands once:\n" << text;
  EXPECT_EQ(text.find(note, once + 20), std::string::npos);
}

TEST_F(Forecast, RowsThatAreNotPlannedTestNothing) {
  const std::string text = plan("cores: 32\n", {"--only", "0,7"});
  EXPECT_SAYS(testable(text), " 6,") << text;
  EXPECT_SAYS(text, "8a   cannot be tested here: [10] did not run");
}

TEST_F(Forecast, BadDescriptionsAreRefusedWithFileAndLine) {
  const auto refused = [&](const std::string& machine, const std::string& why) {
    plan(machine, {}, 2);
    EXPECT_TRUE(says(why)) << why << " not in " << errors();
  };
  refused("cores: 0\n", "machine.yaml:1");
  refused("memory_gib: 4\n", "machine.yaml:1: no cores");
  refused("cores: 4\nsockets: 2\n", "machine.yaml:2");
  refused("", "empty file");
  EXPECT_EQ(run({"--machine", directory / "machine.yaml"}), 2) << "only with --dry-run";
}

}  // namespace harness::claim_forecast_test
