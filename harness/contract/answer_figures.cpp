// A table of figures with unit and meaning, and the check of a comma-separated list of their names.
#include "harness/contract/answer_figures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "harness/base/comma_list.h"

namespace harness {

const std::vector<AnswerFigure>& answer_figures() {
  static const std::vector<AnswerFigure> figures = {
      {"all_reduced", "bytes", "bytes that a rank all-reduces in a batch", {}},
      {"copying", "s", "time of making the copy of the data that the row's storage reads, once", {}},
      {"images_per_s", "images/s", "images of all devices per second", {}},
      {"loading", "ms", "phase load", {"load"}},
      {"memory",
       "MiB",
       "peak memory of the tensors on a GPU or emulated device (the first one), of rows on CPUs the most "
       "resident memory of their processes",
       {}},
      {"other_memory",
       "MiB",
       "the same of the device that needs most of it among the others of the process; emulated devices only",
       {}},
      {"processing",
       "ms",
       "from forward to the optimizer's step, communication included",
       {"broadcast", "forward", "gather", "loss", "backward", "reduce", "sync", "step"}},
      {"step_time", "ms", "time per batch", {}},
      {"transfer", "ms", "phases h2d and scatter", {"h2d", "scatter"}},
  };
  return figures;
}

const AnswerFigure* find_answer_figure(const std::string& name) {
  for (const AnswerFigure& figure : answer_figures())
    if (name == figure.name) return &figure;
  return nullptr;
}

std::string answer_figures_problem(const std::string& text) {
  const auto names = base::split_at_commas(text);
  if (std::ranges::all_of(names, find_answer_figure)) return "";
  std::vector<const char*> known;
  for (const AnswerFigure& figure : answer_figures()) known.push_back(figure.name);
  return fmt::format("names of {}", fmt::join(known, ", "));
}

}  // namespace harness
