// unit: claims of a matrix file: refused ones with their line, those of a user's own matrix and their exit
// code
#include "harness/report/claim_question.h"
#include "tests/support/claim_records.h"
#include "tests/support/failure_of.h"
#include "tests/support/program.h"

namespace harness::claim_file_test {

constexpr const char* kRows = "rows:\n  slow: {batch: 256}\n  fast: {like: slow, base: slow}\n";

class ClaimFile : public testing::Test {
 protected:
  std::vector<Question> read(const std::string& claims, const std::string& rows = kRows) {
    const fs::path file = folder / "mine.yaml";
    std::ofstream(file) << rows << "claims:\n" << claims;
    return read_own_parts(file).questions;
  }
  const TemporaryFolder folder;
};

TEST_F(ClaimFile, AreNumberedAsListedAndKnowTheirRows) {
  const auto questions = read(
      "  - {text: one, tests: [{quantity: seconds, of: [slow, fast], above: 1.01}]}\n"
      "  - - {text: two, needs: [{cold: fast}], tests: {quantity: wait_share, of: slow, below: 0.1}}\n"
      "    - {text: three, not_measured: nobody did}\n");
  ASSERT_EQ(questions.size(), 3u);
  EXPECT_EQ(questions[0].claim, 1u);
  EXPECT_EQ(questions[1].claim, 2u);
  EXPECT_EQ(questions[2].claim, 2u);
  EXPECT_EQ(questions[1].rows, (std::vector<std::string>{"slow", "fast"})) << "in the order of the matrix";
  EXPECT_TRUE(read_own_parts(SOURCE_DIR "/configs/formats.yaml").questions.empty());
}

TEST_F(ClaimFile, BadOnesAreRefusedWithLineAndNearestName) {
  const std::string seconds = "quantity: seconds, of: [slow, fast]";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{quantity: secnds, of: slow, below: 1}", "unknown quantity; found 'secnds'; did you mean 'seconds'?"},
      {"{quantity: seconds, of: [slow, fats], above: 1}",
       "unknown row in a claim; found 'fats'; did you mean 'fast'?"},
      {"{quantity: work_ms, phases: foward, of: slow, below: 1}",
       "unknown phase; found 'foward'; did you mean 'forward'?"},
      {"{" + seconds + ", abov: 1.01}", "unknown key in 'tests'; found 'abov'; did you mean 'above'?"},
      {"{" + seconds + ", above: much}", "wrong limit; expected a number above 0; found 'much'"},
      {"{" + seconds + ", above: -1}", "wrong limit"},
      {"{" + seconds + ", above: nan}", "wrong limit"},
      {"{" + seconds + ", above: 2, below: 1}", "a larger `below`"},
      {"{" + seconds + ", within: 0.05, above: 1}", "or `within`"},
      {"{" + seconds + "}", "`above`"},
      {"{quantity: seconds, above: 1}", "its rows as `of`"},
      {"{quantity: seconds, of: [slow, fast, slow], above: 1}", "write a product as {ROW: POWER, ...}"},
      {"{quantity: seconds, of: {slow: 100}, above: 1}", "a whole number from -9 to 9"},
      {"{quantity: work_ms, of: slow, above: 1}", "the `phases` of work_ms"},
      {"{" + seconds + ", phases: load, above: 1}", "no `phases` of seconds"},
      {"{" + seconds + ", from_batch: 5, above: 1}", "no `from_batch` of seconds"},
      {"{quantity: gain_from_waiting, of: slow, above: 0.5}", "gain_from_waiting of two rows"},
      {"{" + seconds + ", within: 0.1, around: loader_thread}",
       "unknown field; found 'loader_thread'; did you mean 'loader_threads'?"},
      {"[]", "'tests' is empty"},
      {"3", "is not a mapping"}};
  for (const auto& [test, why] : cases) {
    const std::string message =
        failure_of([&] { read("  - text: one\n    tests:\n      - " + test + "\n"); });
    EXPECT_SAYS(message, test == "[]" ? "mine.yaml:" : "mine.yaml:7: ");
    if (test != "[]") {
      EXPECT_SAYS(message, why);
    }
  }
  const std::vector<std::pair<std::string, std::string>> parts = {
      {"text: one", "lacks an answer"},
      {"not_measured: x", "lacks its `text`"},
      {"text: one, not_measured: x, judge: may_diverge", "answered once"},
      {"text: one, judge: may_diverg", "unknown judge; found 'may_diverg'; did you mean 'may_diverge'?"},
      {"text: one, judge: []", "unknown judge"},
      {"text: one, tests: []", "'tests' is empty"},
      {"text: one, not_measured: x, needs: [{clod: slow}]",
       "unknown need; found 'clod'; did you mean 'cold'?"},
      {"text: one, not_measured: x, needs: [{cold: slwo}]",
       "unknown row in a claim; found 'slwo'; did you mean 'slow'?"},
      {"text: one, not_measured: x, needs: [{cold: slow, own_cores: slow}]", "items of one name each"},
      {"text: one, not_measured: x, needs: [{cold: [slow, fast]}]", "wrong arguments of need 'cold'"},
      {"text: one, not_measured: x, needs: [{only_differ: [slow, fast]}]", "2 rows, `fields`"},
      {"text: one, not_measured: x, needs: [{only_differ: {rows: [slow, fast], fields: bach}}]",
       "did you mean 'batch'?"},
      {"text: one, not_measured: x, needs: [{waits: slow}]", "`otherwise`"},
      {"text: one, not_measured: x, remarks: [{sixteen_bit: slow}]", "unknown remark"},
      {"text: one, not_measured: x, by_construction: rate", "unknown source of an answer"},
      {"txt: one", "unknown key in 'claims'; found 'txt'; did you mean 'text'?"}};
  for (const auto& [part, why] : parts) {
    const std::string message = failure_of([&] { read("  - {" + part + "}\n"); });
    EXPECT_SAYS(message, "mine.yaml:5: ");
    EXPECT_SAYS(message, why);
  }
}

TEST(ArticleClaims, Are17InTheOrderOfTheArticle) {
  ASSERT_FALSE(article_questions().empty());
  EXPECT_EQ(article_questions().back().claim, 17u);
  EXPECT_EQ(article_questions().size(), 38u);
}

TEST(OwnClaims, OfSeveralMatricesAreNumberedOnAndKeptForTheReport) {
  const TemporaryFolder folder;
  for (const char* name : {"one", "two"})
    std::ofstream(folder / (std::string(name) + ".yaml"))
        << "rows: {" << name << ": {batch: 256}}\nclaims:\n  - {text: \"" << name
        << ": so\", tests: [{quantity: seconds, of: " << name << ", below: 3}]}\n";
  const OwnParts claims =
      own_parts({folder / "one.yaml", SOURCE_DIR "/configs/article.yaml", folder / "two.yaml"}, SOURCE_DIR);
  ASSERT_EQ(claims.questions.size(), 2u) << "without the article's";
  std::ofstream(folder / "claims.yaml") << claims.text;
  const std::vector<Question> again = read_own_parts(folder / "claims.yaml").questions;
  ASSERT_EQ(again.size(), 2u);
  for (size_t i = 0; i < 2; ++i)
    for (const Question& question : {claims.questions[i], again[i]}) {
      EXPECT_EQ(question.claim, i + 1);
      EXPECT_EQ(question.text, std::string(i ? "two" : "one") + ": so");
      EXPECT_EQ(question.rows, (std::vector<std::string>{i ? "two" : "one"}));
    }
  EXPECT_EQ(own_parts({SOURCE_DIR "/configs/article.yaml"}, SOURCE_DIR).text, "");
}

TEST(OwnClaims, AreJudgedBesideTheArticles) {
  const TemporaryFolder folder;
  std::ofstream(folder / "mine.yaml")
      << "claims:\n"
         "  - {text: faster, tests: [{quantity: total_s, of: [tmpfs, o1], above: 1.2}]}\n"
         "  - {text: short, tests: [{quantity: median_ms, of: o1, below: 20}]}\n"
         "  - {text: alike, tests: [{quantity: images_per_second, of: [tmpfs, o1], within: 0.05}]}\n"
         "  - {text: more, tests: [{quantity: seconds, of: [tmpfs, o1], around: devices, within: 0.05}]}\n";
  ClaimRecords records;
  records.add("tmpfs", step_of(1, 30));
  records.add("o1", step_of(1, 20));
  Summary summary = records.summary();
  summary.own = std::make_shared<const OwnParts>(read_own_parts(folder / "mine.yaml"));
  const std::vector<Claim> claims = claims_of(summary);
  ASSERT_EQ(claims.size(), 21u);
  EXPECT_EQ(claims[17].verdict, ClaimVerdict::holds) << claims[17].parts[0].reason;
  EXPECT_EQ(claims[18].verdict, ClaimVerdict::does_not_hold) << claims[18].parts[0].reason;
  EXPECT_TRUE(claims[18].parts[0].figure.ends_with(")")) << claims[18].parts[0].figure;
  EXPECT_SAYS(claims[18].parts[0].figure, " ms (");
  EXPECT_EQ(claims[19].verdict, ClaimVerdict::does_not_hold) << claims[19].parts[0].reason;
  EXPECT_EQ(claims[20].number, 4);
  EXPECT_EQ(claims_grid(summary, true).title, "this matrix's 4 claims");
  EXPECT_EQ(claims_grid(summary).title, "the article's 17 claims");
  EXPECT_EQ(claims_grid(summary, true).rows.size(), 4u);
}

class OwnClaimsOfARun : public Program {
 protected:
  // Rows whose batches take 4 ms; `limits` of their median step.
  int with(const std::string& limits, const std::string& scale = "rehearsal",
           const std::string& row = "own") {
    fs::remove_all(directory / "run");
    std::ofstream(directory / "mine.yaml")
        << "rows: {own: {batch: 256, storage: synthetic}}\n"
        << "claims:\n"
        << "  - {text: as fast, tests: [{quantity: median_ms, of: " << row << ", " << limits << "}]}\n";
    write_files_that_are_no_images();  // making a scale's stand-in takes minutes in a sanitized build
    return run({directory / "mine.yaml", "--data", directory / "data", "--scale", scale, "--device", "cpu",
                "--repeat", "6", "--set", "timed_batches=20", "--out", directory / "run"});
  }
};

TEST_F(OwnClaimsOfARun, EndItWithExitCode4WhereOneDoesNotHold) {
  EXPECT_EQ(with("below: 5"), 0);
  EXPECT_TRUE(says("this matrix's 1 claim")) << output();
  EXPECT_EQ(with("below: 3"), 4);
  EXPECT_TRUE(says("claims of this matrix that do not hold: 1"));
  EXPECT_EQ(run({"report", directory / "run"}), 0);
  EXPECT_TRUE(says("does not hold")) << "report needs the run's folder alone";
  EXPECT_EQ(with("below: 3", "smoke"), 0) << "whose figures mean nothing";
  EXPECT_EQ(with("below: 3", "rehearsal", "onw"), 2);
  EXPECT_TRUE(says("mine.yaml:3: unknown row in a claim; found 'onw'; did you mean 'own'?"));
  EXPECT_FALSE(fs::exists(directory / "run")) << "refused before anything ran";
}

class OwnTablesOfARun : public Program {
 protected:
  int with(const std::string& column) {
    fs::remove_all(directory / "run");
    std::ofstream(directory / "mine.yaml") << "rows:\n"
                                              "  half: {batch: 256, storage: synthetic}\n"
                                              "  whole: {batch: 512, storage: synthetic, base: half}\n"
                                              "tables:\n"
                                              "  Batches:\n"
                                              "    rows: [half, whole]\n"
                                              "    columns: {images: batch, total s: total, step: "
                                           << column << "}\n"
                                           << "    notes: [\"images: of one batch\"]\n";
    write_files_that_are_no_images();
    return run({directory / "mine.yaml", "--data", directory / "data", "--scale", "rehearsal", "--device",
                "cpu", "--set", "timed_batches=20", "--out", directory / "run"});
  }
};

TEST_F(OwnTablesOfARun, AreShownWithItsOtherTablesAndKept) {
  ASSERT_EQ(with("median_ms"), 0) << output();
  const auto is_whole = [&] {
    EXPECT_TRUE(says("Batches\n")) << output();
    EXPECT_TRUE(says("images: of one batch")) << output();
    EXPECT_FALSE(says("article timed")) << "its rows are none of the article's";
  };
  is_whole();
  EXPECT_SAYS(content_of(directory / "run" / "table.md"), "Batches");
  EXPECT_SAYS(content_of(directory / "run" / "report.html"), "images: of one batch");
  EXPECT_FALSE(fs::exists(directory / "run" / "article.txt"));
  ASSERT_EQ(run({"report", directory / "run"}), 0) << "which needs the run's folder alone";
  is_whole();
}

TEST_F(OwnTablesOfARun, OfAnUnknownFigureAreRefusedBeforeAnythingRuns) {
  EXPECT_EQ(with("medain_ms"), 2);
  EXPECT_TRUE(says("mine.yaml:7: unknown figure in column 'step'")) << output();
  EXPECT_TRUE(says("did you mean 'median_ms'?")) << output();
  EXPECT_FALSE(fs::exists(directory / "run"));
}

TEST_F(OwnClaimsOfARun, AreForecastByADryRun) {
  with("below: 5");
  EXPECT_EQ(run({directory / "mine.yaml", "--data", directory / "data", "--scale", "rehearsal", "--device",
                 "cpu", "--dry-run"}),
            0);
  EXPECT_TRUE(says("claims of this matrix that this plan can test: 1"));
}

}  // namespace harness::claim_file_test
