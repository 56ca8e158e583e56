// unit: what a dump of LibTorch's flight recorder says about the last collectives of a rank
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/launch/row_processes.h"
#include "tests/support/temporary_folder.h"

namespace flight_recorder_test {

using nlohmann::json;

// The keys that FlightRecorderDetail.hpp writes, as far as they matter.
json entry(int64_t group, int64_t number, const std::string& name, const std::string& state, json sizes) {
  return {{"record_id", number},
          {"pg_id", group},
          {"process_group", {"0", "undefined"}},
          {"collective_seq_id", number},
          {"p2p_seq_id", 0},
          {"profiling_name", name},
          {"input_sizes", std::move(sizes)},
          {"input_dtypes", {"Float"}},
          {"state", state},
          {"retired", state == "completed"}};
}

class FlightRecorder : public testing::Test {
 protected:
  std::string told_by(const std::string& text) {
    std::ofstream(dump) << text;
    return harness::last_collectives(dump);
  }
  std::string told_of(const json& entries) {
    json all = {{"version", "2.10"}, {"pg_status", {{"0", {{"last_enqueued_collective", "12"}}}}}};
    if (!entries.is_null()) all["entries"] = entries;
    return told_by(all.dump());
  }
  const TemporaryFolder folder;
  const std::filesystem::path dump = folder.path() / "rank-0.flight.json";
};

TEST_F(FlightRecorder, NamesTheLastEnqueuedAndCompletedOfEachGroup) {
  EXPECT_EQ(
      told_of(json{entry(0, 11, "nccl:all_reduce", "completed", {{262144}}),
                   entry(1, 1, "nccl:broadcast", "scheduled", {{8, 4}}),
                   entry(0, 12, "nccl:all_reduce", "started", {{6553600}})}),
      "\ngroup 0: last enqueued nccl:all_reduce 12 of [[6553600]], started; last completed "
      "nccl:all_reduce 11 of [[262144]]\ngroup 1: last enqueued nccl:broadcast 1 of [[8,4]], scheduled; "
      "last completed none");
}

TEST_F(FlightRecorder, ARankThatEnqueuedNothingSaysSo) {
  EXPECT_EQ(told_of(json()), "\nno collective was recorded");
}

TEST_F(FlightRecorder, ADamagedDumpIsNamedAndNoDumpSaysNothing) {
  EXPECT_EQ(harness::last_collectives(dump), "");
  for (const std::string& text :
       {std::string(), std::string("{\"entries\": [{"), std::string("[]"), std::string("7"),
        std::string("{\"entries\": 7}"), std::string("{\"entries\": [7]}"),
        std::string("{\"entries\": [{\"pg_id\": \"0\"}]}"), std::string("{\"entries\": [{\"pg_id\": 0}]}"),
        std::string("{\"entries\": [{\"pg_id\": 0, \"state\": \"started\"}]}")}) {
    const std::string told = told_by(text);
    EXPECT_NE(told, "") << text;
    EXPECT_EQ(told.find("last completed"), std::string::npos) << told;
  }
  EXPECT_NE(told_by("{\"entries\": [7]}").find("\n" + dump.string() + " is not a dump"), std::string::npos);
}

}  // namespace flight_recorder_test
