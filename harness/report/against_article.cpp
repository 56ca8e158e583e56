#include "harness/report/against_article.h"

#include <cmath>

namespace harness {

std::string against_article(const Ratio& here, double point) {
  if (!here.known() || point <= 0) return "-";
  const Judgement near = judge(here, {point / (1 + kArticleMargin), point / (1 - kArticleMargin)});
  if (near.runs_missing > 0) return "too few runs";
  if (near.verdict != Verdict::does_not_hold) return "reproduced";
  if (std::abs(point - 1) <= kArticleMargin) return "differs";
  const Judgement faster = judge(here, {.low = 1});
  if (!faster.decided()) return "direction unclear";
  return (faster.verdict == Verdict::holds) == (point > 1) ? "same direction" : "other direction";
}

std::string against_equal(const Ratio& here) {
  const Judgement equal = judge(here, {1 - kArticleMargin, 1 + kArticleMargin});
  if (equal.verdict == Verdict::cannot_be_told) return "-";
  if (equal.runs_missing > 0) return "too few runs";
  if (equal.verdict == Verdict::holds) return "same";
  return judge(here, {.low = 1}).decided() ? "differs" : "undecided";
}

}  // namespace harness
