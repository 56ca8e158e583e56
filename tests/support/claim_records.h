// Records of the article's rows with made-up times, for tests of the verdicts on its claims.
#pragma once
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "harness/report/claims.h"
#include "tests/support/article_rows.h"
#include "tests/support/failure_of.h"
#include "tests/support/typed_records.h"

namespace harness {

using nlohmann::json;

// Rows of the article's own matrix, run on made-up hardware where every claim can be tested: four GPUs with
// device clocks, 64 cores, float16, several runs. Device times are those of the phases unless said otherwise.
class ClaimRecords {
 public:
  explicit ClaimRecords(const std::string& scale = "article") : scale_(scale) {
    for (const Row& row : article(scale).rows) rows_[row.id] = to_json(row);
  }

  json& add(const std::string& id, const Times& times, int repeats = 5) {
    for (int repeat = 0; repeat < repeats; ++repeat) add_one(id, times, repeat, repeats);
    return records_.back();
  }
  // Applies to all records of the row, or of every row without an id.
  void set(const std::string& id, const char* pointer, const json& value) {
    for (json& record : records_)
      if (id.empty() || record["row"] == id) record[json::json_pointer(pointer)] = value;
  }

  Records decoded() const {
    Records all;
    for (const json& record : records_) all.push_back(typed(record));
    return all;
  }
  Summary summary() const { return summarise(typed(records_)).at(0); }
  ClaimPart part(int claim, size_t part = 0) const {
    return claims_of(summary()).at(size_t(claim - 1)).parts.at(part);
  }
  ClaimVerdict verdict(int claim, size_t index = 0) const { return part(claim, index).verdict; }
  std::string reason(int claim, size_t index = 0) const { return part(claim, index).reason; }

 private:
  json identity(const std::string& id) const {
    const json& config = rows_.at(id);
    const bool ranks = config["strategy"] != "single" && config["strategy"] != "data_parallel";
    return {{"schema", 1},
            {"row", id},
            {"repeat", 0},
            {"status", "OK"},
            {"reason", ""},
            {"config", config},
            {"scale", {{"name", scale_}}},
            {"device", {{"kind", "cuda"}, {"label", "4 GPUs"}}},
            {"machine", {{"cpu", "made up"}, {"cores", 64}, {"host", "test"}}},
            {"build", {{"revision", "test"}}},
            {"data", {{"kind", "stand-in"}, {"fingerprint", "test"}, {"images", 100}, {"bytes", 11500000}}},
            {"precision", {{"sixteen_bit", config["precision"] == "o0" ? "" : "float16"}}},
            {"world_size", ranks ? config["devices"].get<int>() * config["nodes"].get<int>() : 1},
            {"cache", {{"state", config["cache"] == "cold" ? "cold" : "none"}}}};
  }

  void add_one(const std::string& id, const Times& times, int repeat, int repeats) {
    constexpr int kBatches = 4;
    const double slower = 1 + 0.002 * (repeat - repeats / 2);  // runs differ a little, as runs do
    json record = identity(id);
    double step = 0, kernels = 0;
    for (const auto& [phase, ms] : times) {
      if (phase == "forward" || phase == "loss" || phase == "backward" || phase == "step")
        kernels += ms * slower;
      record["samples_ms"][phase] = json::array();
      for (int rank = 0; rank < record["world_size"].get<int>(); ++rank)
        record["samples_ms"][phase].push_back(std::vector<double>(kBatches, ms * slower));
      step += ms * slower;
    }
    record["device_ms"] = record["samples_ms"];
    record["device_ms"].erase("load");
    const double busy = 100 * kernels / step;  // as NVML reads it
    record["gpu"] = {{{"rank", 0},
                      {"samples", kBatches},
                      {"utilisation_percent", {{"mean", busy}, {"min", busy}, {"max", busy}}}}};
    record["timed_batches"] = kBatches;
    record["total_s"] = kBatches * step / 1000;
    record["repeat"] = repeat;
    records_.push_back(record);
  }

  std::string scale_;
  std::map<std::string, json> rows_;
  std::vector<json> records_;
};

inline Times step_of(double load, double compute) {
  return {{"load", load}, {"h2d", 1}, {"forward", 0.3 * compute}, {"backward", 0.7 * compute}, {"step", 1}};
}

// ---- tables of verdicts ----

struct RowTimes {
  std::string id;
  Times times;
  int repeats = 5;
};
struct Change {  // as of ClaimRecords::set()
  std::string row, pointer;
  json value;
};
struct Expected {
  std::string part;  // `8b`
  ClaimVerdict verdict;
  std::string says = "";  // in the part's text, figure or reason
};
// The verdicts on rows after these changes. A part that holds must also be untestable as soon as one of its
// rows has failed.
inline void expect(const std::string& what, const std::vector<RowTimes>& rows,
                   const std::vector<Change>& changes, const std::vector<Expected>& verdicts,
                   const std::string& scale = "article") {
  ClaimRecords records(scale);
  for (const auto& [id, times, repeats] : rows) records.add(id, times, repeats);
  for (const auto& [row, pointer, value] : changes) records.set(row, pointer.c_str(), value);
  const std::vector<Claim> claims = claims_of(records.summary());
  for (const auto& [name, verdict, says] : verdicts) {
    SCOPED_TRACE(what + ", " + name);
    const size_t claim = std::stoul(name) - 1, letter = size_t(name.back() - 'a');
    const ClaimPart& part = claims.at(claim).parts.at(letter);
    EXPECT_STREQ(text_of(part.verdict), text_of(verdict)) << part.figure << "; " << part.reason;
    EXPECT_SAYS(part.text + "; " + part.figure + "; " + part.reason, says);
    for (const std::string& id : verdict == ClaimVerdict::holds ? part.rows : std::vector<std::string>()) {
      ClaimRecords failed = records;
      failed.set(id, "/status", "CRASHED");
      failed.set(id, "/reason", "signal 11");
      const ClaimPart without = failed.part(int(claim) + 1, letter);
      EXPECT_EQ(without.verdict, ClaimVerdict::cannot_be_tested) << id;
      EXPECT_SAYS(without.reason, id);
      EXPECT_SAYS(without.reason, "CRASHED: signal 11");
    }
  }
}

}  // namespace harness
