// unit: each figure shows the numbers of its rows, and is left out where a run has none for it
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "harness/report/figures.h"
#include "tests/support/failure_of.h"
#include "tests/support/golden_figures.h"
#include "tests/support/typed_records.h"

namespace figure_kinds_test {

using nlohmann::json;

class FigureKinds : public testing::Test {
 protected:
  std::vector<json> values_of(const std::string& figure, const std::string& field) const {
    std::vector<json> values;
    const json spec = figure_of(summary_, figure);
    for (const json& value : spec.at("data").at("values"))
      if (value.contains(field) && !value[field].is_null()) values.push_back(value);
    return values;
  }
  const harness::SummaryRow& row(const std::string& id) const {
    return *std::find_if(summary_.rows.begin(), summary_.rows.end(),
                         [&](const auto& r) { return r.id == id; });
  }

  const std::vector<json> records_ = rich_records();
  harness::Summary summary_ = harness::summarise(typed(records_)).at(0);
};

TEST_F(FigureKinds, AreLeftOutWithoutData) {
  std::vector<json> few;
  for (const json& record : records_)
    if (record["row"] == "disk" || record["row"] == "13") few.push_back(record);
  std::set<std::string> names;
  for (const auto& figure : harness::figures_of(harness::summarise(typed(few)).at(0), "a-run", SOURCE_DIR))
    names.insert(figure.name);
  EXPECT_EQ(names, (std::set<std::string>{"cascade", "phases", "timeline", "batches"}));
  for (json& record : few) record["status"] = "CRASHED";
  EXPECT_TRUE(harness::figures_of(harness::summarise(typed(few)).at(0), "a-run", SOURCE_DIR).empty());
}

TEST_F(FigureKinds, AllAppearWhereTheRunHasThemAll) {
  std::set<std::string> names;
  for (const auto& figure : harness::figures_of(summary_, "a-run", SOURCE_DIR)) {
    names.insert(figure.name);
    EXPECT_EQ(figure.spec["title"]["text"].get<std::string>().rfind("REHEARSAL: ", 0), 0u) << figure.name;
    EXPECT_SAYS(figure.spec["title"]["subtitle"].dump(), "not the article's hardware");
    EXPECT_SAYS(figure.spec.dump(), "\"tooltip\"") << figure.name;
  }
  EXPECT_EQ(names,
            (std::set<std::string>{"cascade", "phases", "timeline", "batches", "communication", "ranks"}));
}

TEST_F(FigureKinds, BatchesMarkTheWarmup) {
  int warmup = 0, timed = 0;
  double first = 0;
  for (const json& value : values_of("batches", "ms"))
    if (value["row"] == "7") {
      ++(value["batch"] < 0 ? warmup : timed);
      if (value["batch"] == -3) first = value["ms"];
      if (value["batch"] == 0) {
        double sum = 0;
        for (const auto& [phase, times] : row("7").record->samples_ms) sum += times[0][0];
        EXPECT_NEAR(value["ms"], sum, 1e-3);
      }
    }
  EXPECT_EQ(first, 99.0);
  EXPECT_EQ(warmup, 3);
  EXPECT_EQ(timed, 60);
}

TEST_F(FigureKinds, TimelineShowsRecordedEventsOtherwisePhasesEndToEnd) {
  std::vector<json> ddp, dp;
  for (const json& value : values_of("timeline", "what")) (value["row"] == "12" ? ddp : dp).push_back(value);
  ASSERT_EQ(ddp.size(), 3u) << "an event that ends before it begins is left out";
  EXPECT_EQ(ddp[1]["rank"], 1);
  EXPECT_EQ(ddp[1]["track"], "collectives");
  EXPECT_EQ(ddp[1]["end_ms"], 14.5);
  EXPECT_EQ(ddp[2]["phase"], "other");
  EXPECT_EQ(ddp[2]["what"], "not a phase");
  double end = 0, step = 0;
  for (const json& value : dp)
    if (value["row"] == "7") end = std::max(end, value["end_ms"].get<double>());
  for (const auto& [phase, times] : row("7").record->samples_ms) step += times[0][59];
  EXPECT_NEAR(end, step, 1e-3);
  const std::string titles = figure_of(summary_, "timeline")["facet"]["header"]["labelExpr"];
  const json lines = json::parse(titles.substr(0, titles.size() - std::string("[datum.value]").size()));
  EXPECT_SAYS(lines["7"][1].get<std::string>(), "end to end");
  EXPECT_EQ(lines["12"][1].get<std::string>().find("end to end"), std::string::npos);
}

TEST_F(FigureKinds, TimelinePlacesADevicesPhasesByTheLossThatItsHostWaitsFor) {
  std::vector<json> records = {to_json(*row("7").record)};
  const auto event = [](const char* track, const char* name, double begin, double end) {
    return json{{"rank", 0}, {"track", track}, {"name", name}, {"begin_ms", begin}, {"end_ms", end}};
  };
  const auto events = [&](double loss_begins) {
    return json{event("host", "load", 0, 2), event("host", "forward", 2, 3),
                event("device 0", "forward", 2, 3), event("host", "loss", loss_begins, 20),
                event("host", "backward", 20, 22)};
  };
  const auto placed = [&] {
    const json spec = figure_of(harness::summarise(typed(records)).at(0), "timeline");
    std::map<std::string, std::pair<double, double>> times;
    for (const json& value : spec.at("data").at("values"))
      times[value["track"].get<std::string>() + " " + value["what"].get<std::string>()] = {value["begin_ms"],
                                                                                           value["end_ms"]};
    return times;
  };
  records[0]["timeline"] = {{"batch", 59}, {"clocks", "one host"}, {"events", events(3)}};
  for (const auto& [phase, ms] :
       std::map<std::string, double>{{"h2d", 14}, {"forward", 6}, {"loss", 1}, {"backward", 11}})
    records[0]["device_ms"][phase] = json::array({json(60, ms)});
  auto times = placed();
  EXPECT_EQ(times.at("launching to device 0 forward"), std::pair(2.0, 3.0));
  EXPECT_EQ(times.at("device 0 h2d"), std::pair(0.0, 13.0)) << "it began before the batch of its host";
  EXPECT_EQ(times.at("device 0 forward"), std::pair(13.0, 19.0));
  EXPECT_EQ(times.at("device 0 loss"), std::pair(19.0, 20.0));
  EXPECT_EQ(times.at("device 0 backward"), std::pair(20.0, 31.0));
  records[0]["timeline"]["events"] = events(19.5);
  times = placed();
  EXPECT_FALSE(times.contains("device 0 forward")) << "a host that doesn't wait doesn't know where it is";
}

TEST_F(FigureKinds, RanksShowAStragglerAmongManyInFewCells) {
  json record = to_json(*row("12").record);
  const int ranks = 1024, batches = 300, slow = 700;
  record["samples_ms"] = {{"forward", json::array()}, {"sync", json::array()}};
  for (int rank = 0; rank < ranks; ++rank) {
    record["samples_ms"]["forward"].push_back(json(batches, rank == slow ? 15.0 : 10.0));
    record["samples_ms"]["sync"].push_back(json(batches, rank == slow ? 0.0 : 5.0));
  }
  record["timed_batches"] = batches;
  record.erase("spans_ms");
  const std::vector<json> records = {record};
  const json spec = figure_of(harness::summarise(typed(records)).at(0), "ranks");
  const json& cells = spec.at("data").at("values");
  EXPECT_LE(cells.size(), 3100u);
  for (const json& cell : cells) {
    const bool holds = cell["first"] <= slow && slow <= cell["last"];
    EXPECT_NEAR(cell["lag"], holds ? 0.5 : 0.0, 1e-9) << cell;
    if (holds) {
      EXPECT_EQ(cell["slowest"], slow);
    }
  }
}

TEST_F(FigureKinds, CommunicationShowsItsTimesAndReasonsOfFailedRows) {
  std::map<std::string, double> times;
  for (const json& value : values_of("communication", "ms")) times[value["time"]] = value["ms"];
  EXPECT_EQ(times["under way"], row("12").communication->under_way_ms);
  EXPECT_EQ(times["exposed"], row("12").communication->exposed_ms);
  EXPECT_EQ(times["alone (ceiling)"], 2.5);
  std::set<std::string> failed;
  for (const json& value : values_of("communication", "status"))
    if (value["status"] != "OK") failed.insert(value["row"]);
  EXPECT_EQ(failed, (std::set<std::string>{"13", "14", "15", "17", "18"}));
}

TEST_F(FigureKinds, PhasesShowDeviceTimeWhereThereIsOne) {
  std::map<std::string, double> device;
  for (const json& value : values_of("phases", "clock"))
    if (value["clock"] == "device") {
      EXPECT_EQ(value["row"], "disk");
      device[value["phase"]] = value["ms"];
    }
  EXPECT_EQ(device, (std::map<std::string, double>{{"forward", 9.0}, {"backward", 20.0}}));
}

}  // namespace figure_kinds_test
