// What a run says to its reader first, on the page, on the terminal and in table.txt: one sentence, a
// picture, three numbers, how far to trust them, and what can be done.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "harness/report/remedies.h"

namespace harness {

struct FirstScreen {
  std::string headline;
  std::vector<std::pair<std::string, std::string>> numbers;  // claims, feed, trained: label, sentence
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
