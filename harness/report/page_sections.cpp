// Arranges the page. All numbers come from the grids and the summary.
#include "harness/report/page_sections.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "harness/base/plain_text.h"
#include "harness/report/article_tables.h"
#include "harness/report/bottleneck.h"
#include "harness/report/claims.h"
#include "harness/report/explain_text.h"
#include "harness/report/first_screen.h"
#include "harness/report/grids.h"
#include "harness/report/page_file.h"
#include "harness/report/source_questions.h"
#include "harness/report/summary/communication.h"
#include "harness/report/summary/machine_answer.h"
#include "harness/report/summary/rank_views.h"
#include "harness/report/summary/summary.h"

namespace harness {

namespace {

using nlohmann::json;

// The lines of a grid whose cell in a column is one of these, in a new grid; they are removed from `grid`.
Grid taken_out(Grid& grid, size_t column, const std::vector<std::string>& cells) {
  Grid taken = grid;
  const auto is_one = [&](const std::vector<std::string>& row) {
    return std::ranges::find(cells, row[column]) != cells.end();
  };
  std::erase_if(grid.rows, is_one);
  std::erase_if(taken.rows, [&](const auto& row) { return !is_one(row); });
  taken.above.clear();
  return taken;
}

void add_folded(json& blocks, const Grid& grid) {
  if (!grid.empty())
    blocks.push_back(
        fold(fmt::format("{} ({})", grid.title, base::counted(int64_t(grid.rows.size()), "line")),
             json::array({{{"grid", grid_json(grid)}}})));
}

json blocks_of(const Grid& grid) {
  json blocks = json::array();
  add_grid(blocks, grid);
  return blocks;
}

std::string rows_in_words(const Summary& summary) {
  std::map<std::string, int> statuses;
  for (const SummaryRow& row : summary.rows) ++statuses[row.status];
  std::vector<std::string> parts;
  for (const auto& [status, number] : statuses) parts.push_back(fmt::format("{} {}", number, status));
  if (!summary.timed_batches.empty()) parts.push_back(summary.timed_batches + " timed batches each");
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

json summary_sections(const Summary& summary, const std::vector<std::string>& figure_names,
                      const std::string& prefix, const std::string& part) {
  json sections = json::array();
  std::vector<std::string> left = figure_names;
  // What is folded opens with a click, so that the page stays short.
  const auto place = [&](const std::string& name, json& blocks, bool folded) {
    if (std::erase(left, name) == 0) return;
    const json figure = {{"figure", prefix + name}};
    blocks.push_back(folded ? fold("picture: " + name, json::array({figure})) : figure);
  };
  const auto add = [&](const std::string& title, json blocks) {
    if (!blocks.empty()) sections.push_back(section(title, std::move(blocks), prefix, part));
  };

  json first = json::array();
  std::vector<std::string> lines = header_lines(summary);
  if (!summary.mark.empty()) {
    first.push_back({{"mark", {summary.mark, lines.front().substr(summary.mark.size() + 2)}}});
    lines.erase(lines.begin());
  }
  const FirstScreen screen = first_screen(summary);
  if (!screen.empty()) {
    first.push_back({{"headline", screen.headline}});
    Facts numbers = screen.numbers;
    numbers.emplace_back("trust", screen.trust);
    json picture = json::array();
    place("cascade", picture, false);
    first.push_back({{"beside", {picture, json::array({{{"facts", numbers}}, {{"lists", screen.lists}}})}}});
  }
  lines.push_back(rows_in_words(summary));
  first.push_back({{"lines", lines}});
  place("cascade", first, false);
  add("summary", first);

  const auto put_first = [&](const std::string& title, json blocks) {
    sections.insert(sections.begin(), section(title, std::move(blocks), prefix, part));
  };
  if (const auto answer = machine_answer(summary))
    put_first("machine", json::array({{{"facts", machine_facts(*answer)}}}));
  if (const auto answer = feed_answer(summary)) {
    json feed = json::array({{{"facts", feed_facts(*answer)}}});
    place("feed", feed, false);
    add_grid(feed, feed_grid(*answer));
    add_grid(feed, feed_changes_grid(*answer));
    put_first("feed", std::move(feed));
  }
  add("emulated and the article", blocks_of(emulated_grid(summary)));

  json matrix = blocks_of(matrix_grid(summary));
  add_folded(matrix, remarks_in_words(summary));
  for (const Grid& grid : own_tables(summary)) add_grid(matrix, grid);
  add("matrix", matrix);
  add("questions", blocks_of(question_grid(summary)));
  add("bottlenecks", blocks_of(bottleneck_grid(summary)));

  json phases = json::array();
  place("phases", phases, true);
  add("phases", phases);

  json article = json::array(), tables = json::array();
  for (const Grid& grid : article_tables(summary)) add_grid(tables, grid);
  if (!tables.empty())
    article.push_back(
        fold(base::counted(int64_t(tables.size()), "table") + " with this run's figures", tables));
  add("the article's tables", article);

  json verdicts = json::array();
  for (const bool own : {true, false}) {
    Grid tested = claims_grid(summary, own);
    if (tested.columns.empty()) continue;
    Grid untested =
        taken_out(tested, 2, {text_of(ClaimVerdict::cannot_be_tested), text_of(ClaimVerdict::not_measured)});
    untested.title = "parts of claims that this run doesn't test";
    if (tested.empty()) verdicts.push_back({{"lines", tested.above}});
    add_grid(verdicts, tested);
    add_folded(verdicts, untested);
  }
  add("claims", verdicts);

  json communication = blocks_of(communication_grid(summary));
  add_folded(communication, rank_views_grid(summary));
  place("communication", communication, true);
  add("communication", communication);

  add("accuracy", blocks_of(accuracy_grid(summary)));
  json rest = json::array();
  while (!left.empty()) place(std::string(left.front()), rest, true);
  add("figures", rest);
  return sections;
}

json explain_sections(const Records& records) {
  json sections = json::array();
  if (const auto fed = job_feed(pointers_to(records)))
    sections.push_back(section("what this job's loader feeds", json::array({{{"facts", feed_facts(*fed)}}})));
  for (const Explanation& explanation : explanations_of(pointers_to(records))) {
    json blocks = json::array({{{"facts", explain_facts(explanation)}}});
    add_grid(blocks, explain_grid(explanation));
    sections.push_back(section(explanation.own ? "what binds this job" : "what binds row " + explanation.of,
                               std::move(blocks)));
  }
  return sections;
}

json common_sections(const Records& records, const std::string& left_out, const std::string& raw) {
  json environment =
      json::array({fold("machine, build and data", json::array({{{"facts", environment_facts(records)}}}))});
  if (!left_out.empty()) environment.push_back({{"lines", {left_out}}});
  for (const Grid& grid : {remarks_grid(records), disturbance_grid(records), rank_grid(records)})
    add_folded(environment, grid);
  const json numbers = {{"lines", std::ranges::count(raw, '\n')}, {"bytes", raw.size()}};
  return json::array({section("words", json::array({fold("what the words and columns mean",
                                                         json::array({{{"words", glossary()}}}))})),
                      section("environment", environment),
                      section("raw records", json::array({{{"records", numbers}}}))});
}

const Facts& glossary() {
  static const Facts terms = {
      {"scale", "the sizes at which the rows run: batch, image, network, number of batches"},
      {"C0", "the scale's number of cores and loader threads; rows have multiples of it"},
      {"device", "what computes: a GPU, an emulated one, or a replica on the processor; never a disk"},
      {"step", "one batch from the wait for its images to the optimizer's end; phases are parts of it"},
      {"load", "phase: the training thread waits for a batch of the loader"},
      {"move", "phases h2d, scatter and broadcast: images and weights to the devices"},
      {"fwd", "phase forward"},
      {"bwd", "phase backward"},
      {"comm", "phases reduce and sync: waits for gradients of other devices or ranks"},
      {"computing", "phases forward, loss, backward and step, whatever slows them down"},
      {"cost of loading",
       "what the step would lose without a loader: phase load or, if this is more, by how much the step is "
       "longer than on a made-up batch, because loader threads also take cores from computing"},
      {"exposed ms",
       "communication per batch that computing did not hide: phases broadcast and sync, and waits of SyncBN"},
      {"loader", "images/s of the loader alone: a ceiling of the row"},
      {"compute", "images/s of the step on a made-up batch, without a loader: a ceiling of the row"},
      {"all-reduce", "images/s that the all-reduces alone would allow: a ceiling of the row"},
      {"headroom", "from the row's images/s to the lower of the ceilings loader and compute"},
      {"ratio to", "seconds of the named base / seconds of the row: above 1 the row is faster"},
      {"article", "the same ratio from the article's figures"},
      {"others %", "share of the row's processor time that other processes and virtual machines took"},
  };
  return terms;
}

}  // namespace harness
