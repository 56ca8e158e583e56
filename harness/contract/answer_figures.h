// Figures by which a row answers its `question`, in comparison with its base: row field `answer`.
#pragma once
#include <string>
#include <vector>

namespace harness {

struct AnswerFigure {
  const char* name;
  const char* unit;
  const char* meaning;
  std::vector<std::string> phases;  // the mean ms of these per batch; empty: another figure of the record
};

// In alphabetical order.
const std::vector<AnswerFigure>& answer_figures();
const AnswerFigure* find_answer_figure(const std::string& name);  // null for an unknown name

// What was expected instead of the text, a comma-separated list of names; empty when it is valid, or no text.
std::string answer_figures_problem(const std::string& text);

}  // namespace harness
