// What a run says to its reader first, on the page, on the terminal and in table.txt: one sentence, a
// picture, three numbers, how far to trust them, and what can be done.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "harness/experiment/intervention.h"
#include "harness/report/summary/ratio.h"

namespace harness {

struct Remedy {
  const Intervention* change = nullptr;
  // The row that it changes, and the one that shows the gain in this run; null: to be tried on `tried_on`.
  const SummaryRow *base = nullptr, *row = nullptr;
  Ratio gain;                               // total_ratio(): times as fast as the base
  std::vector<const SummaryRow*> tried_on;  // rows whose bottleneck it would relieve
};

// For each change the row that gained most by it over its base, more than equal rows differ; then what would
// relieve the bottleneck of some row and has neither gained nor lost in this run. The largest gain comes
// first; empty at scale smoke. The summary must outlive the remedies.
std::vector<Remedy> remedies_of(const Summary& summary);

// `row 7`, `rows 7, 8`, and of more than `most` their number.
std::string counted(const std::vector<std::string>& ids, size_t most);

// `strategy data_parallel -> ddp: 1.58 times as fast (row 12 instead of 10)`; of a purchase also the
// multiple, of a conversion what copying took.
std::string text_of(const Remedy& remedy);

// The largest difference of two rows of a run that do the same work, e.g. tmpfs and [1], as a share; a
// smaller gain is none. Nullopt without such rows.
std::optional<double> noise_between_equal_rows(const Summary& summary);

struct FirstScreen {
  std::string headline;
  Facts numbers;  // claims, feed, trained: label, sentence
  std::string trust;
  // Never mixed: what is free, what costs a copy of the images, what costs money. A list may be empty.
  std::vector<std::pair<std::string, std::vector<std::string>>> lists;

  bool empty() const { return headline.empty(); }
};

// Empty for runs of `explain` and `feed`, which have their own answers, and without a row that ran.
FirstScreen first_screen(const Summary& summary);

// All of it with the picture as lines of text; empty like first_screen().
std::string first_screen_text(const Summary& summary);

}  // namespace harness
