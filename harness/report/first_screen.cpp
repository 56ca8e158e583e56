// Words the first screen from the summary, its claims and its remedies.
#include "harness/report/first_screen.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "harness/config/row_traits.h"
#include "harness/report/claims.h"
#include "harness/report/summary/article_comparison.h"
#include "harness/report/summary/feed_answer.h"
#include "harness/report/summary/machine_answer.h"
#include "harness/report/summary/summary.h"
#include "harness/stats/disturbance.h"
#include "harness/stats/provenance.h"

namespace harness {
namespace {

size_t rows_with(const Summary& summary, bool (*is_one)(const SummaryRow&)) {
  return size_t(std::ranges::count_if(summary.rows, is_one));
}

bool is_measured(const SummaryRow& row) { return row.ok(); }
bool is_to_train(const SummaryRow& row) { return trains(row.config); }
bool has_trained(const SummaryRow& row) { return row.ok() && is_to_train(row); }

// Of a user's own job as far as its records tell: a trace needs to name no device.
std::string ran_on(const Summary& summary) {
  if (summary.device == "emulated") return " on emulated devices, not this machine's";
  if (summary.device == "cuda") return " on its GPUs";
  const Record& run = *summary.rows.front().record;
  const std::string& name = run.device.name;
  if (summary.device == "own" && name.empty()) return "";
  return summary.device == "cpu" || name == run.machine.cpu ? " on its processor" : " on " + name;
}

std::string headline_of(const Summary& summary) {
  if (!summary.about_machine.empty()) return summary.about_machine;
  return fmt::format("{}: {} of {} rows ran{}", summary.machine, rows_with(summary, is_measured),
                     summary.rows.size(), ran_on(summary));
}

std::string feed_line(const Summary& summary) {
  if (!summary.fed.empty()) return summary.fed;
  const std::string device =
      summary.device == "emulated" ? summary.rows.front().record->device.name : "v100-article";
  return fmt::format(
      "not measured here; `./run_matrix feed --device {} --devices 4` says how many devices it feeds",
      device);
}

std::string trained_line(const Summary& summary) {
  if (summary.device != "emulated")
    return fmt::format("{} of {} rows trained for real on this {}", rows_with(summary, has_trained),
                       rows_with(summary, is_to_train), summary.device == "cuda" ? "machine" : "processor");
  const std::string sentence = trained_sentence(summary);
  return sentence.empty() ? "not checked in this run: emulated devices only wait" : sentence;
}

// `rows held out differ from the article by up to 20 %`: how far the emulated devices can be believed.
std::string held_out_text(const Summary& summary) {
  double largest = 0;
  for (const ArticleComparison& one : article_comparisons(summary))
    largest = std::max(largest, std::abs(one.error().value_or(0)));
  if (largest <= 0) return "";
  return fmt::format(
      "rows that the device file wasn't calibrated on differ from the article by up to {:.0f} %",
      100 * largest);
}

std::string trust_of(const Summary& summary) {
  if (summary.scale == "smoke") return fmt::format("none: {}", kSmokeOnlyTests);
  std::vector<std::string> doubts, taken, clocked, failed;
  size_t fewest_runs = SIZE_MAX;
  for (const SummaryRow& row : summary.rows) {
    if (!row.ok()) {
      failed.push_back(row.id);
      continue;
    }
    fewest_runs = std::min(fewest_runs, row.runs.size());
    if (summary.device != "emulated" && most_taken_share(row.records) >= kDisturbedShare)
      taken.push_back(row.id);
    if (most_changed_clock(row.records) >= kChangedClock) clocked.push_back(row.id);
  }
  if (!summary.mark.empty()) doubts.push_back(summary.mark + ", not the article's hardware and sizes");
  if (const std::string error = held_out_text(summary); !error.empty()) doubts.push_back(error);
  if (fewest_runs < kFewestRuns)
    doubts.push_back(
        fmt::format("some rows ran only {} {}", fewest_runs, fewest_runs == 1 ? "time" : "times"));
  if (!taken.empty()) doubts.push_back("others took processor time of " + counted(taken, 3));
  if (!clocked.empty()) doubts.push_back("the processor's clock changed during " + counted(clocked, 3));
  if (const double noise = noise_between_equal_rows(summary).value_or(0); noise >= kDisturbedShare)
    doubts.push_back(fmt::format("two rows that do the same work differ by {:.0f} %", 100 * noise));
  if (!failed.empty()) doubts.push_back("no figure of " + counted(failed, 3));
  return doubts.empty() ? "high" : fmt::format("low: {}", fmt::join(doubts, "; "));
}

// `7  1879 #####+++   article 1880`; `=`: by construction.
std::string picture_text(const Summary& summary) {
  const Rates rates = rates_of(summary);
  double largest = 0;
  size_t id_width = width_of("row"), label_width = 0;
  const auto number = [&](const std::optional<double>& value) {
    return !value ? "-" : rates.multiples ? fmt::format("{:.2f}", *value) : fmt::format("{:.0f}", *value);
  };
  bool built = false, published = false;
  for (const RowRate& rate : rates.rows) {
    built = built || (rate.here && rate.by_construction);
    published = published || rate.article;
    largest = std::max({largest, rate.here.value_or(0), rate.article.value_or(0)});
    id_width = std::max(id_width, width_of(rate.row->id));
    label_width = std::max({label_width, number(rate.here).size(), number(rate.article).size(), size_t(7)});
  }
  if (largest <= 0) return "";
  constexpr double kLongest = 60;
  std::string text = fmt::format("{}   {:>{}} {:>{}} batch\n", fit("row", id_width), "article", label_width,
                                 "here", label_width);
  for (const RowRate& rate : rates.rows) {
    std::string bar(size_t(kLongest * rate.here.value_or(0) / largest + 0.5),
                    rate.by_construction ? '=' : '#');
    if (rate.article) {  // its end, also inside or beyond the bar
      const size_t end = std::max<size_t>(1, size_t(kLongest * *rate.article / largest + 0.5));
      if (bar.size() < end) bar.resize(end, ' ');
      bar[end - 1] = '|';
    }
    text +=
        fmt::format("{}   {:>{}} {:>{}} {:>5} {}\n", fit(wrap(rate.row->id, std::string::npos, ""), id_width),
                    number(rate.article), label_width, rate.here ? number(rate.here) : "-", label_width,
                    rate.batch, rate.row->ok() ? bar : rate.row->status);
  }
  return text +
         wrap(fmt::format("{}. #: this run{}{}.",
                          rates.multiples
                              ? "Times as many images/s as the row in which its chain of bases begins"
                          : summary.device == "emulated" ? "Images/s in the article's batches and time"
                                                         : "Images/s",
                          built ? ", =: by construction" : "", published ? ", |: the article" : ""),
              kConsoleWidth - 2, "  ") +
         "\n";
}

}  // namespace

FirstScreen first_screen(const Summary& summary) {
  FirstScreen screen;
  if (rows_with(summary, is_measured) == 0 || feed_answer(summary) || machine_answer(summary) ||
      summary.rows.front().record->intervention || job_feed(summary.rows.front().records))
    return screen;
  screen.headline = headline_of(summary);
  if (const std::string claims = claims_line(claims_of(summary)); !claims.empty())
    screen.numbers.emplace_back("claims", claims);
  if (summary.device != "own") {  // of a user's own job both are known
    screen.numbers.emplace_back("feed", feed_line(summary));
    screen.numbers.emplace_back("trained", trained_line(summary));
  }
  screen.trust = trust_of(summary);
  screen.lists = {{"settings, free", {}}, {"conversions, which copy the images once", {}}, {"purchases", {}}};
  for (const Remedy& remedy : remedies_of(summary))
    screen.lists[size_t(remedy.change->cost) - size_t(Cost::setting)].second.push_back(text_of(remedy));
  return screen;
}

std::string first_screen_text(const Summary& summary) {
  const FirstScreen screen = first_screen(summary);
  if (screen.empty()) return "";
  const auto line = [](const std::string& text) { return wrap(text, kConsoleWidth - 2, "  ") + "\n"; };
  std::string text = line(screen.headline);
  for (const auto& [label, sentence] : screen.numbers) text += line(label + ": " + sentence);
  text += line("trust: " + screen.trust) + "\n" + picture_text(summary) + "\n";
  for (const auto& [title, lines] : screen.lists) {
    if (lines.empty()) continue;
    text += title + ":\n";
    for (const std::string& one : lines) text += wrap("- " + one, kConsoleWidth - 2, "  ") + "\n";
  }
  return text + "\n";
}

}  // namespace harness
