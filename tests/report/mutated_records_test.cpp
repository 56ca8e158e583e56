// unit: for any content of a record, a report is written or the record is left out with a warning that names
// its line; nothing crashes.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "harness/compare/comparison.h"
#include "harness/compare/validate.h"
#include "harness/nightly/night.h"
#include "harness/report/article_tables.h"
#include "harness/report/claims.h"
#include "harness/report/figures.h"
#include "harness/report/grids.h"
#include "harness/report/page_file.h"
#include "harness/report/page_sections.h"
#include "harness/report/table.h"
#include "harness/stats/records.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/typed_records.h"

namespace harness::mutated_records_test {

namespace fs = std::filesystem;
using nlohmann::json;

// Records of every kind of row, with every key that a record may have.
constexpr const char* kEveryKey = "every_key.jsonl";

// JSON pointers to all values down to a depth; only the first two elements of long lists.
void collect(const json& value, const json::json_pointer& here, int depth,
             std::vector<json::json_pointer>& all) {
  if (depth == 0 || !value.is_structured()) return;
  size_t seen = 0;
  for (const auto& [key, child] : value.items()) {
    const json::json_pointer place = value.is_array() ? here / seen : here / key;
    if (value.is_array() && ++seen > 2) return;
    all.push_back(place);
    collect(child, place, depth - 1, all);
  }
}

const std::vector<json>& strange_values() {
  static const std::vector<json> values = {nullptr,
                                           true,
                                           -1,
                                           1e308,
                                           0,
                                           "<script>",
                                           json::array(),
                                           json::object(),
                                           json::array({json::array({"x"})})};
  return values;
}

// Calls everything that reads records; exceptions propagate.
void report_on(const Records& records) {
  for (const Summary& summary : summarise(records)) {
    console_table(summary);
    markdown_table(summary);
    for (const Grid& grid : article_tables(summary)) console_text(grid);
    console_text(emulated_grid(summary));
    console_text(claims_grid(summary));
    figures_of(summary, "run", SOURCE_DIR);
    json_for_html(summary_sections(summary, {}, "", ""));
  }
  json_for_html(common_sections(records, "", ""));
  compare(records, records, {});
  validate(records, {records, records, records});
  encode(night_of("night", records));
}

class MutatedRecords : public testing::Test {
 protected:
  // The records that a report uses, and the warnings about the others.
  Records read_back(const std::vector<json>& records, std::string& said) {
    std::ofstream output(folder_ / "records.jsonl");
    for (const json& record : records) output << record << '\n';
    output.close();
    std::ostringstream warnings;
    auto read = read_records(folder_, warnings);
    said = warnings.str();
    return read;
  }

  const TemporaryFolder folder_;
};

TEST_F(MutatedRecords, TheGoldenOnesAreReportedWhole) {
  std::string said;
  const auto records = read_back(golden(kEveryKey), said);
  EXPECT_EQ(records.size(), 6u);
  EXPECT_EQ(said, "");
  report_on(records);
}

TEST_F(MutatedRecords, AnyValueAtAnyPlaceIsReportedOrLeftOutWithItsLine) {
  const std::vector<json> records = golden(kEveryKey);
  size_t tried = 0, left_out = 0;
  for (size_t which = 0; which < records.size(); ++which) {
    std::vector<json::json_pointer> places;
    collect(records[which], json::json_pointer(), 5, places);
    for (size_t i = 0; i < places.size(); ++i) {
      // Each place gets one strange value; which one goes round, so that all places together meet all.
      std::vector<json> mutated = {records[which]};
      mutated[0][places[i]] = strange_values()[(i + which) % strange_values().size()];
      const std::string where = places[i].to_string() + " = " + mutated[0][places[i]].dump();
      std::string said;
      try {
        const auto read = read_back(mutated, said);
        ++tried;
        left_out += read.empty();
        ASSERT_EQ(read.empty(), said.find("records.jsonl:1: ") != std::string::npos) << where << ": " << said;
        if (!read.empty()) report_on(read);
      } catch (const std::exception& error) {
        ADD_FAILURE() << "record " << which << ", " << where << ": " << error.what();
      }
    }
  }
  EXPECT_GT(tried, 1000u);
  EXPECT_GT(left_out, 50u);
}

TEST_F(MutatedRecords, AnyKeyMayBeMissing) {
  for (const json& record : golden(kEveryKey))
    for (const auto& [key, value] : record.items()) {
      std::vector<json> mutated = {record};
      mutated[0].erase(key);
      std::string said;
      const auto read = read_back(mutated, said);
      ASSERT_EQ(read.empty(), !said.empty()) << key << ": " << said;
      ASSERT_NO_THROW(report_on(read)) << "without " << key;
    }
}

}  // namespace harness::mutated_records_test
