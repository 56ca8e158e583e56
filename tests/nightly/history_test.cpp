// unit: the history of nights: what it keeps, how it is searched, damage, several writers, a clock that goes
// back.
#include "harness/nightly/history.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>

#include "harness/base/file.h"
#include "harness/base/time_stamp.h"
#include "harness/nightly/trend.h"
#include "tests/support/failure_of.h"
#include "tests/support/golden_figures.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/typed_records.h"

namespace harness::history_test {

namespace fs = std::filesystem;

Night night(const std::string& id, const std::string& started_at, const std::string& tag = "") {
  Night it;
  it.id = id;
  it.started_at = started_at;
  it.tag = tag;
  it.machine = "Zen, 8 cores";
  it.host = "a";
  it.canaries = {{"gemm_ms", 1.5}};
  it.rows = {{"7", "rehearsal", "cpu", "OK", "abc", {1.0, 1.2, 1.1}, {{"load", 3.0}}, 3, {{"p99_ms", 4.5}}},
             {"8", "rehearsal", "cpu", "HUNG", "def", {}, {}, 3}};
  return it;
}

class HistoryTest : public testing::Test {
 protected:
  History open() { return History(folder_, warnings_); }
  fs::path nights() const { return folder_ / "nights.jsonl"; }  // of older versions
  fs::path file_of(const std::string& day, const std::string& host, const std::string& id) const {
    return folder_ / ("night=" + day) / ("host=" + host) / (id + ".json");
  }

  const TemporaryFolder home_;
  const fs::path folder_ = home_ / "history";  // doesn't exist at first
  std::ostringstream warnings_;
};

TEST_F(HistoryTest, KeepsWhatItWasGiven) {
  open().append(night("n1", "2026-01-01T03:00:00Z", "main"));
  const History history = open();
  ASSERT_EQ(history.nights().size(), 1u);
  const Night& back = history.nights()[0];
  EXPECT_EQ(back.rows_ok(), 1u);
  EXPECT_EQ(encode(back), encode(night("n1", "2026-01-01T03:00:00Z", "main")));
  EXPECT_DOUBLE_EQ(back.rows[0].median_s(), 1.1);
  EXPECT_DOUBLE_EQ(back.rows[0].metrics.at("p99_ms"), 4.5);
  EXPECT_EQ(warnings_.str(), "");
}

TEST_F(HistoryTest, ANightFromBeforeNightsHadMetricsIsReadAndItsSettingsKeepTheirHash) {
  fs::create_directories(folder_);
  std::ofstream(nights())
      << R"({"canaries":{"gemm_ms":1.5},"complete":true,"environment":"Zen",)"
      << R"("host":"a","id":"n1","machine":"Zen, 8 cores","revision":"abc123",)"
      << R"("rows":[{"config":"c0ffee","device":"cpu","phases_ms":{"load":3.0},"repeats":2,)"
      << R"("row":"7","scale":"rehearsal","status":"OK","totals_s":[1.0,1.2]}],)"
      << R"("run":"","schema":1,"started_at":"2026-01-01T03:00:00Z","tag":""})" << '\n';
  const Night old = open().find("n1");
  EXPECT_TRUE(old.rows[0].metrics.empty());
  EXPECT_EQ(encode(old).dump() + '\n', base::read_file(nights())) << "exported as it was";
  const std::vector<Trend> trends = trends_of({old});
  EXPECT_EQ(trends[0].key(), "Zen, 8 cores; rehearsal cpu 7 c0ffee") << "as in older lines of alarms.jsonl";
  EXPECT_EQ(trends_of({old}, followed_metric("p99_ms")).size(), 1u) << "only the canary";
  EXPECT_EQ(warnings_.str(), "");
}

TEST_F(HistoryTest, ANightKeepsTheFollowedMetricsOfItsRecords) {
  std::vector<nlohmann::json> records = golden("matrix.jsonl");
  for (nlohmann::json& rank : ::record_of(records, "disk")["samples_ms"]["step"])
    for (nlohmann::json& ms : rank) ms = 1e-8;
  const Night made = night_of("n1", typed(records));
  EXPECT_EQ(encode(night_from_json(encode(made))), encode(made)) << "a time that rounds to 0 is left out";
  const Summary summary = summarise(typed(records)).at(0);
  for (size_t i = 0; i < made.rows.size(); ++i)
    for (const char* name : {"images_per_second", "p99_ms", "median_ms", "skew_ms", "exposed_ms"}) {
      const std::string cell = csv_text(metric(name), summary, summary.rows[i]);
      const auto kept = made.rows[i].metrics.find(name);
      EXPECT_EQ(kept != made.rows[i].metrics.end(), !cell.empty() && std::stod(cell) > 1e-6) << i << name;
      if (kept != made.rows[i].metrics.end()) {
        EXPECT_NEAR(kept->second, std::stod(cell), 1e-4 * kept->second) << i << name;
      }
    }
}

TEST_F(HistoryTest, FindsByIdPlaceTagAndDate) {
  History history = open();
  history.append(night("n1", "2026-01-01T03:00:00Z", "main"));
  history.append(night("n2", "2026-01-02T03:00:00Z", "main"));
  history.append(night("n3", "2026-01-02T09:00:00Z"));
  EXPECT_EQ(history.find("n1").id, "n1");
  EXPECT_EQ(history.find("last").id, "n3");
  EXPECT_EQ(history.find("last-2").id, "n1");
  EXPECT_EQ(history.find("main").id, "n2") << "the latest with the tag";
  EXPECT_EQ(history.find("2026-01-02").id, "n3");
  for (const char* missing : {"last-3", "2026-02-30", "nothing", "yesterday", "last-x"})
    EXPECT_THROW(history.find(missing), std::invalid_argument) << missing;
  EXPECT_EQ(history.between("2026-01-02:now").size(), 2u);
  EXPECT_EQ(history.between(":2026-01-01").size(), 1u);
  EXPECT_EQ(history.between("now-1d:").size(), 0u);
  for (const char* bad : {"", "2026-01-02", "a:b", "now-xd:", "1:2:3", "2026-13-01:", "now-200000d:"})
    EXPECT_THROW(history.between(bad), std::invalid_argument) << bad;
  EXPECT_THROW(history.append(night("n2", "2026-01-05T03:00:00Z")), std::runtime_error);
}

TEST_F(HistoryTest, ADamagedLineCostsOneNightAndIsNamed) {
  fs::create_directories(folder_);
  std::ofstream(nights()) << encode(night("n1", "2026-01-01T03:00:00Z"))
                          << "\n{\"schema\": 1, \"id\": 7}\nnot json\n"
                          << encode(night("n2", "2026-01-02T03:00:00Z")) << "\n{\"sch";
  const History history = open();
  ASSERT_EQ(history.nights().size(), 2u);
  EXPECT_EQ(history.nights()[1].id, "n2");
  for (const char* place :
       {"nights.jsonl:2: `id`", "nights.jsonl:3: not JSON", "nights.jsonl:5: the line is cut off"})
    EXPECT_NE(warnings_.str().find(place), std::string::npos) << place << " in " << warnings_.str();
}

TEST_F(HistoryTest, ADamagedFileCostsItsNightAndIsNamed) {
  open().append(night("n1", "2026-01-01T03:00:00Z"));
  open().append(night("n2", "2026-01-02T03:00:00Z"));
  std::ofstream(file_of("2026-01-01", "a", "n1")) << "{\"sch";
  std::ofstream(file_of("2026-01-01", "a", ".1-draft")) << "{\"sch";
  const History history = open();
  ASSERT_EQ(history.nights().size(), 1u);
  EXPECT_EQ(history.nights()[0].id, "n2");
  EXPECT_SAYS(warnings_.str(), "night=2026-01-01/host=a/n1.json: night left out: ");
  EXPECT_EQ(warnings_.str().find("draft"), std::string::npos);
}

TEST_F(HistoryTest, NamesWithAnyCharactersAreFilesInTheHistory) {
  Night odd = night("a/../b", "2026-01-01T03:00:00Z");
  odd.host = "../\xC3\xA9 \"\n";
  open().append(odd);
  EXPECT_TRUE(fs::exists(folder_ / "night=2026-01-01/host=..%2F%C3%A9%20%22%0A/a%2F..%2Fb.json"));
  ASSERT_EQ(open().nights().size(), 1u);
  EXPECT_EQ(open().nights()[0].host, odd.host);
}

TEST_F(HistoryTest, OneHostsNightsCanBeReadAlone) {
  open().append(night("n1", "2026-01-01T03:00:00Z"));
  Night other = night("n2", "2026-01-01T03:00:00Z");
  other.host = "ab";
  open().append(other);
  const History history(folder_, warnings_, {}, "a");
  ASSERT_EQ(history.nights().size(), 1u);
  EXPECT_EQ(history.nights()[0].id, "n1");
}

TEST_F(HistoryTest, HostsAreThoseOfTheLastWeekAlsoWhereTheirNightsWereMoved) {
  open().append(night("n1", "2026-01-01T03:00:00Z"));
  EXPECT_TRUE(hosts_lately(folder_).empty()) << "long ago";
  Night other = night("n2", base::day_before_now(3) + "T03:00:00Z");
  other.host = "b c";
  open().append(other);
  other = night("n3", "2999-01-01T03:00:00Z");
  other.host = "whose clock is wrong";
  open().append(other);
  for (const char* host : {"b c", "d", "gone"})
    std::ofstream(folder_ / (std::string(kNightsLock) + host + ".lock")) << "";
  fs::last_write_time(folder_ / "nightly-gone.lock",
                      fs::file_time_type::clock::now() - std::chrono::days(30));
  EXPECT_EQ(hosts_lately(folder_), (std::set<std::string>{"b%20c", "d"}));
}

TEST_F(HistoryTest, CompactedNightsThatCannotBeReadAreNamed) {
  open().append(night("n1", "2026-01-01T03:00:00Z"));
  std::ofstream(folder_ / "night=2026-01-01/compact-1.parquet") << "no Parquet";
  EXPECT_EQ(History(folder_, warnings_, "/nowhere").nights().size(), 1u);
  EXPECT_SAYS(warnings_.str(), "its compacted nights are left out");
}

TEST_F(HistoryTest, NegativeAndImpossibleFiguresAreRefused) {
  nlohmann::json object = encode(night("n1", "2026-01-01T03:00:00Z"));
  object["rows"][0]["totals_s"][1] = -1;
  EXPECT_THROW(night_from_json(object), Violation);
  object = encode(night("n1", "2026-01-01T03:00:00Z"));
  object["rows"][0]["metrics"]["p99_ms"] = 0;
  EXPECT_THROW(night_from_json(object), Violation);
  object["rows"][0]["metrics"] = {{"p99_ms", 1}};
  object["rows"][0]["totals_s"] = "fast";
  EXPECT_THROW(night_from_json(object), Violation);
  object = encode(night("n1", "2026-01-01T03:00:00Z"));
  object["schema"] = 2;
  EXPECT_THROW(night_from_json(object), Violation);
  object.erase("schema");
  EXPECT_SAYS(failure_of([&] { night_from_json(object); }),
              "`schema` is missing: expected 1; this is not a night of a history");
}

TEST_F(HistoryTest, AFolderThatCannotBeWrittenIsNamed) {
  std::ofstream(home_ / "history") << "a file";
  EXPECT_SAYS(failure_of([&] { open().append(night("n1", "2026-01-01T03:00:00Z")); }), folder_.string());
}

TEST_F(HistoryTest, AClockThatWentBackIsNamedAndNightsAreInOrderOfTime) {
  open().append(night("n1", "2026-01-05T03:00:00Z"));
  open().append(night("n2", "2026-01-02T03:00:00Z"));
  EXPECT_NE(warnings_.str().find("went backwards"), std::string::npos) << warnings_.str();
  EXPECT_EQ(open().nights()[1].id, "n1");
}

TEST_F(HistoryTest, ImportedNightsAreInOrderOfTime) {
  open().append(night("own-1", "2026-01-05T03:00:00Z"));
  open().append(night("own-2", "2026-01-07T03:00:00Z"));
  std::vector<Night> others = {night("late", "2026-01-06T03:00:00Z"), night("early", "2026-01-01T03:00:00Z")};
  for (Night& other : others) other.imported = true;
  EXPECT_EQ(open().append_new(others), 2u);
  open().append(night("own-3", "2026-01-08T03:00:00Z"));
  const History history = open();
  std::vector<std::string> ids;
  for (const Night& night : history.nights()) ids.push_back(night.id);
  EXPECT_EQ(ids, (std::vector<std::string>{"early", "own-1", "late", "own-2", "own-3"}));
  EXPECT_EQ(history.find("last").id, "own-3");
  EXPECT_EQ(warnings_.str(), "") << "no clock went backwards";
}

TEST_F(HistoryTest, SeveralWritersLoseNothing) {
  constexpr int kWriters = 4, kNights = 25;
  for (int writer = 0; writer < kWriters; ++writer)
    if (fork() == 0) {
      for (int i = 0; i < kNights; ++i)
        open().append(night("w" + std::to_string(writer) + "-" + std::to_string(i), "2026-01-01T03:00:00Z"));
      _exit(0);
    }
  for (int status = 0; wait(&status) > 0;) EXPECT_EQ(status, 0);
  const History history = open();
  EXPECT_EQ(history.nights().size(), size_t(kWriters * kNights));
  EXPECT_EQ(warnings_.str(), "");
}

TEST_F(HistoryTest, ARunsFolderIsNone) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "records.jsonl") << "{}\n";
  EXPECT_SAYS(failure_of([&] { open(); }), "holds a run, no history");
}

TEST_F(HistoryTest, AnEmptyFolderIsAnEmptyHistory) {
  EXPECT_TRUE(open().nights().empty());
  EXPECT_THROW(open().find("last"), std::invalid_argument);
  EXPECT_FALSE(fs::exists(folder_)) << "looking creates nothing";
}

TEST(Moment, KnowsDaysThatExist) {
  EXPECT_TRUE(base::is_day("2024-02-29"));
  for (const char* bad : {"2023-02-29", "2023-1-1", "20230101", "2023-01-01x", "", "2023-00-10"})
    EXPECT_FALSE(base::is_day(bad)) << bad;
}

}  // namespace harness::history_test
