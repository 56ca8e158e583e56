// unit: a ratio against the article's, rows that the article calls equal, and its figures of single phases
#include <gtest/gtest.h>

#include "harness/contract/published_ms.h"
#include "harness/report/article_tables.h"
#include "tests/support/article_rows.h"

namespace harness::against_article_test {

TEST(AgainstArticle, WidensTheIntervalOtherwiseNamesTheDirection) {
  const Ratio clear{2.0, 1.9, 2.1, 5};
  EXPECT_EQ(against_article(clear, 2.2), "reproduced");
  EXPECT_EQ(against_article(clear, 1.81), "reproduced");
  EXPECT_EQ(against_article(clear, 2.21), "same direction");
  EXPECT_EQ(against_article(clear, 0.9), "other direction");
  EXPECT_EQ(against_article({0.5, 0.4, 0.6, 5}, 0.8), "same direction");
  EXPECT_EQ(against_article({1.02, 0.95, 1.1, 5}, 2), "direction unclear");
  EXPECT_EQ(against_article({1.5, 1.4, 1.6, 5}, 0.997), "differs") << "1 has no direction";
  EXPECT_EQ(against_article({1.02, 0.9, 1.1, 5}, 0.997), "reproduced");
  EXPECT_EQ(against_article({}, 2), "-");
  EXPECT_EQ(against_article(clear, 0), "-");
}

TEST(AgainstArticle, EqualRowsAreTestedForBeingTheSame) {
  EXPECT_EQ(against_equal({1.0, 0.97, 1.04, 5}), "same");
  EXPECT_EQ(against_equal({1.02, 1.01, 1.04, 5}), "same") << "a difference below the margin";
  EXPECT_EQ(against_equal({1.2, 1.1, 1.3, 5}), "differs");
  EXPECT_EQ(against_equal({1.0, 0.9, 1.1, 5}), "undecided");
  EXPECT_EQ(against_equal({}), "-");
}

TEST(PublishedMs, ReadsPhasesAndTheHostsPartAndRefusesTheRest) {
  const PublishedMs times = published_ms(" h2d=13.6  forward_launch=15.4");
  EXPECT_EQ(times.size(), 2u);
  EXPECT_EQ(times.at("h2d"), 13.6);
  EXPECT_EQ(times.at("forward_launch"), 15.4);
  EXPECT_EQ(published_ms_problem(""), "");
  EXPECT_EQ(published_ms_problem("h2d=13.6 step=1.8 step_launch=8.0"), "");
  for (const char* wrong : {"h2d", "h2d=", "=3", "h2d=x", "h2d=1ms", "h2d=-1", "h2d=0", "h2d=nan", "h2d=inf",
                            "fwd=1", "_launch=1", "h2d=1 h2d=2", "h2d=1,step=2", "h2d = 1"})
    EXPECT_NE(published_ms_problem(wrong), "") << wrong;
}

TEST(PublishedMs, TheBaselinesFiguresAreInTheMatrixAndInNoOtherRow) {
  for (const Row& row : article().rows)
    EXPECT_EQ(row.published_ms.empty(), row.id != "disk" && row.id != "tmpfs") << row.id;
}

}  // namespace harness::against_article_test
