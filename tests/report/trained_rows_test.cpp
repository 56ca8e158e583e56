// unit: the column `trained` and its sentence on made-up records: steps, whole slices, rows that failed or
// can't train.
#include <gtest/gtest.h>

#include "harness/report/grids.h"
#include "harness/report/summary/summary.h"
#include "harness/report/table.h"
#include "tests/support/emulated_records.h"
#include "tests/support/failure_of.h"

namespace harness::trained_rows_test {

using nlohmann::json;

json trained(const std::string& row, bool ok = true) {
  json record = ok ? emulated_records::emulated(row, 100)
                   : emulated_records::failed(row, "INVALID", "trained: CRASHED: rank 3: signal 6");
  record["checks"] = {{{"name", "trained"}, {"ok", ok}, {"detail", "CRASHED: rank 3: signal 6"}}};
  return record;
}

json with_slice(json record, double last_loss, const std::string& reason = "") {
  record["training"] = {
      {"batches", reason.empty() ? 300 : 0}, {"first_loss", 7.06}, {"last_loss", last_loss}};
  if (!reason.empty()) record["training"]["reason"] = reason;
  return record;
}

Summary summary_of(const std::vector<json>& records) { return summarise(typed(records)).at(0); }

bool is_trained(const GridColumn& column) { return column.header == "trained"; }

TEST(TrainedRows, AreCountedInOneSentence) {
  const Summary all = summary_of({trained("0"), trained("7"), trained("12")});
  EXPECT_EQ(trained_sentence(all), "3 of 3 rows trained for real on this processor");
  EXPECT_EQ(trained_text(all.rows[0]), "yes");
  EXPECT_SAYS(console_table(all), "3 of 3 rows trained for real on this processor");
}

TEST(TrainedRows, ThatDidNotAreNamed) {
  const Summary some = summary_of(
      {trained("0"), trained("7", false), emulated_records::failed("17", "SKIPPED", "no namespaces")});
  EXPECT_EQ(trained_sentence(some), "1 of 3 rows trained for real on this processor (not in 7, 17)");
  EXPECT_EQ(trained_text(some.rows[1]), "no");
}

TEST(TrainedRows, ShowTheLossOfTheirSlice) {
  const Summary whole = summary_of({with_slice(trained("0"), 2.72), with_slice(trained("7"), 2.05)});
  EXPECT_EQ(trained_sentence(whole),
            "2 of 2 rows trained 300 batches for real (small network); the loss fell in 2");
  EXPECT_EQ(trained_text(whole.rows[0]), "7.06 to 2.72");
  const Grid grid = matrix_grid(whole);
  const auto column = std::find_if(grid.columns.begin(), grid.columns.end(), is_trained);
  ASSERT_NE(column, grid.columns.end());
  EXPECT_EQ(grid.rows[1][size_t(column - grid.columns.begin())], "7.06 to 2.05");
}

TEST(TrainedRows, WhoseSliceFailedOrWhoseLossDidNotFallAreNamed) {
  const Summary part =
      summary_of({with_slice(trained("0"), 6.9), with_slice(trained("7"), 0, "HUNG: no batch"),
                  with_slice(trained("12"), 3.0), trained("16")});
  EXPECT_EQ(trained_sentence(part),
            "4 of 4 rows trained for real on this processor; 2 of 4 rows trained 300 batches for real (small "
            "network) (not in 7); the loss fell in 1 (not in 0)");
  EXPECT_EQ(trained_text(part.rows[1]), "no");
}

TEST(TrainedRows, OldRecordsAndRealDevicesSayNothing) {
  const Summary old = summary_of({emulated_records::emulated("0", 100)});
  EXPECT_EQ(trained_sentence(old), "");
  EXPECT_EQ(trained_text(old.rows[0]), "");
  const Grid grid = matrix_grid(old);
  EXPECT_TRUE(std::none_of(grid.columns.begin(), grid.columns.end(), is_trained));
  const Summary real = summarise(typed(golden("matrix.jsonl"))).at(0);
  EXPECT_EQ(trained_sentence(real), "");
  EXPECT_EQ(trained_text(real.rows[0]), "");
}

}  // namespace harness::trained_rows_test
