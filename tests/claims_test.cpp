// unit: all 17 verdicts as one table: scale, rows that are missing, width
#include <algorithm>

#include "tests/claim_records.h"

namespace harness::claims_test {

TEST(Claims, RowsThatDidNotRunAreNamed) {
  ClaimRecords records;
  records.add("7", step_of(1, 30));
  EXPECT_EQ(records.verdict(5), ClaimVerdict::cannot_be_tested);
  EXPECT_EQ(records.reason(5), "[0] [5] [1] [2] [4] did not run");
}

TEST(Claims, SmokeScaleGivesNoVerdict) {
  ClaimRecords records("smoke");
  records.add("disk", step_of(90, 28));
  records.add("17", step_of(1, 40));
  for (const Claim& claim : claims_of(records.summary())) {
    EXPECT_EQ(claim.verdict, ClaimVerdict::cannot_be_tested) << claim.number;
    EXPECT_EQ(claim.mark, "SMOKE");
  }
}

TEST(Claims, AssertionsThatNoRowMeasuresAreNamedWithTheReason) {
  ClaimRecords records;
  records.add("7", step_of(1, 30));
  for (const auto& [claim, subject] :
       {std::pair(2, "HDF5"), {4, "kernels themselves"}, {13, "more stably"}}) {
    const std::vector<Claim> claims = claims_of(records.summary());
    const std::vector<ClaimPart>& parts = claims.at(size_t(claim - 1)).parts;
    const auto part = std::find_if(parts.begin(), parts.end(), [text = subject](const ClaimPart& some) {
      return some.text.find(text) != std::string::npos;
    });
    ASSERT_NE(part, parts.end()) << subject;
    EXPECT_EQ(part->verdict, ClaimVerdict::cannot_be_tested);
    EXPECT_EQ(part->reason.rfind("not measured: ", 0), 0u) << part->reason;
  }
}

TEST(Claims, AnotherMatrixHasNone) {
  ClaimRecords records;
  records.add("7", step_of(1, 30));
  records.set("7", "/config/identity", "own");
  EXPECT_TRUE(claims_of(records.summary()).empty());
  EXPECT_TRUE(claims_grid(records.summary()).empty());
}

TEST(Claims, GridStatesTheScaleAndFitsAConsole) {
  ClaimRecords records("rehearsal");
  records.add("disk", step_of(90, 28), 1);
  const Grid grid = claims_grid(records.summary());
  EXPECT_NE(grid.above.at(0).find("REHEARSAL"), std::string::npos);
  std::istringstream lines(console_text(grid));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(width_of(line), kConsoleWidth) << line;
  EXPECT_EQ(claims_of(records.summary()).size(), 17u);
  for (const auto& row : grid.rows) EXPECT_EQ(row.size(), grid.columns.size());
}

TEST(Grid, LongCellsContinueUnderThemselves) {
  Grid grid;
  grid.title = "grid";
  grid.columns = {{"a", true}, {"why", true, false, 9}};
  grid.rows = {{"1", "four words of text"}, {"2", "short"}};
  EXPECT_EQ(console_text(grid), "grid\na why\n1 four\n  words of\n  text\n2 short\n");
}

}  // namespace harness::claims_test
