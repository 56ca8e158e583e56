// The questions that the rows of a matrix ask (row fields `question` and `answer`), each answered by
// comparing the row with its base.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "harness/report/summary/grid.h"
#include "harness/report/summary/ratio.h"

namespace harness {

struct Answer {
  std::string question, row, base;
  std::string figure = {}, unit = {};               // name and unit, as answer_figures() lists them
  std::optional<double> of_row = {}, of_base = {};  // medians over the runs with status OK
  Ratio ratio = {};                                 // row / base; known only when all values are above 0
  std::string why_not = {};                         // why there are no figures; else empty
  Judgement more = {};  // that the row has more of it, by Holm's correction for all answers
};

std::vector<Answer> answers_of(const Summary& summary);

// `answers to this matrix's questions`; empty without questions.
Grid question_grid(const Summary& summary);

}  // namespace harness
